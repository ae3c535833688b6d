<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\AsksDoctor;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Doctor;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/**
 * What `keysieve doctor` finds in a volume as Kubernetes makes it for a pod: of root, open to all of the pod,
 * and with a loader whose user has a number alone.
 */
final class DoctorVolumeTest extends TestCase
{
    use AsksDoctor {
        setUp as makeDirectory;
    }

    private const LOADER = 54321;

    protected function setUp(): void
    {
        $this->makeDirectory();
        $this->needRoot();
        self::assertFalse(posix_getpwuid(self::LOADER));
        chgrp($this->memory->path, self::LOADER);
        chmod($this->memory->path, 02777);
    }

    /** What root's doctor leaves there the loader cannot open. */
    public function testBeforeTheFirstSetTheCacheTellsWhomTheLoaderIs(): void
    {
        $loader = $this->loaderWithAStore();
        $doctor = $this->askBeside($loader);
        self::assertSame(self::LOADER . ' can write to it', explode(': ', $doctor->about('cache')['seen'])[1]);
        $this->assertError($doctor, 'set tags', 'No such file or directory', 'journalctl');
        self::assertStringContainsString('tags has generation 1 there, 0 here', $doctor->about('store main')['seen']);
        $this->assertRefreshes($loader);
    }

    /** Those of other loaders, or of nobody, tell nothing. */
    public function testAFolderOfTheConfigurationTellsWhomTheLoaderIs(): void
    {
        $loader = $this->loaderWithAStore();
        $this->makeVolumeOf("{$loader->folder}/cache");
        $this->makeFolder('aaa', 'www-data');
        $this->makeFolder('tags', self::LOADER);
        $this->publishAs('daemon', 'shop');
        $doctor = $this->askBeside($loader);
        $this->assertError($doctor, 'cache', 'may write to it', "chown -R 54321 {$loader->folder}/cache");
        self::assertStringContainsString('1 there, 0 here', $doctor->about('store main')['seen']);
        $this->assertRefreshes($loader);
    }

    public function testARunningLoaderTellsWhomItIs(): void
    {
        $loader = $this->loaderWithAStore(push: false);
        $this->makeVolumeOf("{$loader->folder}/cache");
        $loader->startAs((string) self::LOADER);
        $about = fn (): string => $this->askBeside($loader)->about('cache')['remedy'] ?? '';
        self::assertTrue(Deadline::reaches(static fn (): bool => str_contains($about(), '-o 54321')), $about() . $loader->log());
    }

    public static function thingsThatTellNothing(): iterable
    {
        yield 'a cache that is a volume' => [02777, []];
        yield 'a set of root' => [02777, ['tags' => 'root']];
        yield 'a cache that root has made' => [0755, []];
        yield 'folders of several' => [null, ['tags' => self::LOADER, 'shop' => 'daemon']];
    }

    /**
     * @param ?int                      $modeOfCache of root's [the loader's own]
     * @param array<string, string|int> $published   owners of sets
     *
     * @dataProvider thingsThatTellNothing
     */
    public function testNobodyTellsWhomTheLoaderIs(?int $modeOfCache, array $published): void
    {
        $loader = $this->loaderWithAStore(sets: ['tags', 'shop']);
        if ($modeOfCache !== null) {
            $this->makeVolumeOf("{$loader->folder}/cache");
            chmod("{$loader->folder}/cache", $modeOfCache);
        }
        foreach ($published as $set => $owner) {
            $this->publishAs($owner, $set);
        }
        $doctor = $this->askBeside($loader);
        foreach (['cache', 'stores'] as $subject) {
            self::assertSame('warning', $doctor->about($subject)['health']);
            self::assertStringContainsString('nobody can tell whom the loader is', $doctor->about($subject)['seen']);
        }
        self::assertFileDoesNotExist("{$loader->folder}/store/lock.mdb");
    }

    /** Once obeyed, nothing keeps the loader out. */
    public function testASetThatRootHasPublishedByHand(): void
    {
        $loader = $this->loaderWithAStore();
        $this->memory->publish(SharedMemory::build('tags', ['apple']));
        $doctor = $this->askBeside($loader);
        self::assertStringEndsWith('54321 can write to it', $doctor->about('cache')['seen']);
        $loader->startAs((string) self::LOADER);
        $folder = "{$this->memory->path}/tags";
        $find = fn (): array => array_column($this->askBeside($loader)->findings, null, 'subject')['folder of tags'] ?? [];
        self::assertTrue(Deadline::reaches(static fn (): bool => $find() !== []), $loader->log());
        self::assertSame('error', $find()['health']);
        self::assertSame("$folder belongs to root, keysieved runs as 54321 and cannot publish in it", $find()['seen']);
        self::assertSame("rm -r $folder; keysieved makes it anew", $find()['remedy']);
        chmod($this->memory->path, 0755);
        self::assertStringStartsWith("chown 54321 {$this->memory->path}; rm -r", $find()['remedy']);
        chown($this->memory->path, 'daemon');
        self::assertSame('run keysieved as daemon: User= of its unit', $find()['remedy']);
        chown($this->memory->path, 'root');
        chmod($this->memory->path, 02777);
        Program::output(['rm', '-r', $folder]);
        self::assertTrue(Deadline::reaches(static fn (): bool => $find() === [] && @fileowner($folder) === self::LOADER), $loader->log());
        self::assertTrue(Deadline::reaches(fn (): bool => $this->askBeside($loader)->about('set tags')['health'] === 'ok'), $loader->log());
    }

    public function testNobodyIsToldToPublishByHandWhereALoaderDoes(): void
    {
        mkdir("{$this->memory->path}/tags", 0750);
        $remedy = fn (): string => Doctor::ask($this->memory->path)->about('set tags')['remedy'];
        self::assertSame('journalctl -u keysieved says why', $remedy());
        chmod($this->memory->path, 0755);
        self::assertStringContainsString('keysieve publish FILE.ks', $remedy());
        $doctor = $this->askBeside($this->loaderWithAStore());
        self::assertSame('journalctl -u keysieved says why', $doctor->about('set tags')['remedy']);
    }

    public function testAnOwnerWhoHasNoName(): void
    {
        $this->publish('www-data');
        $pool = $this->pool((string) self::LOADER);
        $doctor = $this->ask($pool);
        self::assertSame(['directory'], $doctor->subjectsInNeed(), (string) $doctor);
        self::assertSame('ok', $doctor->about('keysieve.owner')['health']);
        self::assertSame('ok', $doctor->about('access')['health']);
    }

    public function testAnEmptyFolderOfSomebodyWhomPhpDoesNotTrust(): void
    {
        $this->publish('www-data');
        $this->makeFolder('aaa', 'daemon');
        $pool = $this->pool((string) self::LOADER);
        self::assertSame('ok', $this->ask($pool)->about('keysieve.owner')['health']);
        $this->publishAs('daemon', 'shop');
        $shop = "{$this->memory->path}/shop belongs to daemon, who is not trusted";
        $this->assertError($this->ask($pool), 'keysieve.owner', $shop, 'PHP believes one user besides root: publish every set as that one');
    }

    public function testAReaderWhoHasNoName(): void
    {
        $this->publish('www-data');
        $asOwner = Doctor::ask($this->memory->path, ['--as', (string) self::LOADER]);
        self::assertStringStartsWith('54321 (groups', $asOwner->about('access')['seen']);
        self::assertSame('ok', $asOwner->about('access')['health']);
        $asOther = Doctor::ask($this->memory->path, ['--as', '54322'])->about('access');
        self::assertStringStartsWith('54322 (groups not known) cannot read tags', $asOther['seen']);
        self::assertSame('its groups are not known here: ask with --fastcgi, or in its container', $asOther['remedy']);
    }

    /** The loader may give its sets to no other group than the pod's, and makes them anew with each volume. */
    public function testAWorkerOutsideTheGroupOfThePod(): void
    {
        $remedy = fn (): ?string => Doctor::ask($this->memory->path, ['--as', 'www-data'])->about('access')['remedy'];
        $this->publish((string) self::LOADER);
        self::assertStringStartsWith('fsGroup: 54321 or supplementalGroups: [54321] in the pod', $remedy());
        self::assertStringContainsString('www-data into group 54321 in /etc/group of its image', $remedy());
        Program::output(['chgrp', '-R', 'root', "{$this->memory->path}/tags"]);
        self::assertSame("fsGroup: 33 in the pod's securityContext", $remedy());
    }

    /** As the container of PHP does whose pod has no fsGroup. */
    public function testAWorkerWhoAsksHimself(): void
    {
        $this->publish((string) self::LOADER);
        $asWorker = ['setpriv', '--reuid=www-data', '--regid=www-data', '--clear-groups'];
        $wrong = $this->ask($this->pool('4242'), $asWorker);
        $this->assertError($wrong, 'keysieve.owner', 'belongs to 54321, who is not trusted', 'keysieve.owner = 54321');
        $this->assertError($wrong, 'access', 'cannot read tags', '');
        $this->assertError($wrong, 'access', 'Permission denied', '');
        $right = $this->ask($this->pool((string) self::LOADER), $asWorker);
        self::assertSame('ok', $right->about('keysieve.owner')['health']);
        $this->assertError($right, 'access', 'Permission denied', '');
    }

    public function testNothingIsSaidOfReadingWhereNothingIsPublished(): void
    {
        $loader = $this->loaderWithAStore();
        $pool = $this->pool((string) self::LOADER);
        $doctor = $this->askBeside($loader, ['--fastcgi', "unix:{$pool->socket}"]);
        self::assertNotContains('access', array_column($doctor->findings, 'subject'));
        $owner = $this->ask($pool)->about('keysieve.owner');
        self::assertSame('warning', $owner['health']);
        self::assertStringContainsString('nobody can tell', $owner['seen']);
    }

    /** Of root, until the loader makes a folder of its own in it. */
    private function makeVolumeOf(string $folder): void
    {
        chown($folder, 'root');
        chgrp($folder, self::LOADER);
        chmod($folder, 02777);
    }

    private function makeFolder(string $set, string|int $owner): void
    {
        mkdir("{$this->memory->path}/$set", 0750);
        chown("{$this->memory->path}/$set", $owner);
    }

    private function publishAs(string|int $owner, string $set): void
    {
        $this->memory->publish(SharedMemory::build($set, ['apple']));
        Program::output(['chown', '-R', (string) $owner, "{$this->memory->path}/$set"]);
    }

    /**
     * One that does not run yet, with all but the lock of its store, which whoever comes first makes.
     *
     * @param string[] $sets
     */
    private function loaderWithAStore(bool $push = true, array $sets = ['tags']): Loader
    {
        $loader = new Loader($sets, directory: $this->memory->path);
        $loader->stop(SIGTERM);
        if ($push) {
            $loader->push(SharedMemory::build('tags', ['apple']));
        }
        array_map('unlink', glob("{$loader->folder}/store/lock.mdb"));
        Program::output(['chown', '-R', self::LOADER . ':' . self::LOADER, $loader->folder]);
        return $loader;
    }

    private function assertRefreshes(Loader $loader): void
    {
        $loader->startAs((string) self::LOADER);
        $current = "{$this->memory->path}/tags/0000000000000001.ks";
        self::assertTrue(Deadline::reaches(static fn (): bool => file_exists($current)), $loader->log());
        self::assertSame(self::LOADER, fileowner("{$loader->folder}/store/lock.mdb"));
    }

    /** As the loader has, for that group. */
    private function publish(string $group): void
    {
        $this->publishAs(self::LOADER . ":$group", 'tags');
        chmod("{$this->memory->path}/tags", 02750);
    }

    private function pool(string $owner): FpmPool
    {
        $directives = ['user' => 'www-data', 'php_admin_value[keysieve.directory]' => $this->memory->path];
        return new FpmPool('', ['pages' => $directives], settings: ['keysieve.owner' => $owner]);
    }

    /** @param string[] $wrapper */
    private function ask(FpmPool $pool, array $wrapper = []): Doctor
    {
        return Doctor::ask($this->memory->path, ['--fastcgi', "unix:{$pool->socket}"], $wrapper);
    }

    /** @param string[] $arguments */
    private function askBeside(Loader $loader, array $arguments = []): Doctor
    {
        return Doctor::ask($this->memory->path, ['--config', $loader->config, ...$arguments]);
    }
}
