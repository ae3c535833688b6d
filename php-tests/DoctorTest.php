<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\AsksDoctor;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Doctor;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Tmpfs;
use PHPUnit\Framework\TestCase;

/** What `keysieve doctor` finds without a worker: in the directory, and with the loader. */
final class DoctorTest extends TestCase
{
    use AsksDoctor;

    public function testAHealthyHostIsAllOk(): void
    {
        $doctor = $this->askBeside($this->loader(['tags']));
        self::assertSame('', (string) $doctor);
        self::assertSame(0, $doctor->status);
        self::assertSame('ok', $doctor->health);
        foreach (['directory', 'file system', 'room', 'huge pages', 'memory', 'set tags', 'loader of tags', 'clock', 'cache'] as $subject) {
            self::assertNull($doctor->about($subject)['remedy']);
        }
        self::assertStringContainsString('tags has generation 1, as here', $doctor->about('store main')['seen']);
    }

    public function testADirectoryThatIsMissing(): void
    {
        $this->assertError(Doctor::ask('/dev/shm/keysieve-none'), 'directory', 'No such file or directory', 'systemctl start keysieved');
    }

    public function testADirectoryInWhichNothingIsPublished(): void
    {
        $this->assertError($this->ask(), 'sets', 'no set is published', 'journalctl');
    }

    public function testADirectoryThatAnybodyMayWriteTo(): void
    {
        chmod($this->memory->path, 0777);
        $this->assertError($this->ask(), 'directory', 'mode 0777', "chmod o-w {$this->memory->path}");
    }

    public function testASetThatItsGroupMayWriteTo(): void
    {
        $this->publish('tags');
        chmod("{$this->memory->path}/tags", 02770);
        $this->assertError($this->ask(), 'set tags', 'may write to it', "chmod -R go-w {$this->memory->path}/tags");
    }

    public function testADiskInsteadOfMemory(): void
    {
        SharedMemory::put('on-disk', ['apple']);
        if (str_contains(Program::output(['stat', '-f', '-c', '%T', SharedMemory::directory()]), 'tmpfs')) {
            self::markTestSkipped('TMPDIR is a tmpfs');
        }
        $doctor = Doctor::ask(SharedMemory::directory());
        self::assertSame('warning', $doctor->about('file system')['health'], (string) $doctor);
    }

    public function testAFullFileSystem(): void
    {
        $this->needRoot();
        $this->memory = new Tmpfs('size=1m');
        $this->publish('tags', range(1, 100_000)); // 140 KiB
        $doctor = $this->ask();
        self::assertSame('ok', $doctor->about('room')['health'], (string) $doctor);
        file_put_contents("{$this->memory->path}/ballast", str_repeat('x', 800 * 1024));
        $this->assertError($this->ask(), 'room', 'the next publication of tags (140.0 KiB) does not fit', 'remount,size=');
    }

    public function testATmpfsForLessThanThreePublications(): void
    {
        $this->needRoot();
        $this->memory = new Tmpfs('size=400k');
        $this->publish('tags', range(1, 100_000));
        $doctor = $this->ask();
        self::assertSame('warning', $doctor->about('room')['health'], (string) $doctor);
        self::assertSame(0, $doctor->status);
    }

    public function testAMountWithoutHugePagesForALargeSet(): void
    {
        $this->needRoot();
        $this->memory = new Tmpfs('size=100m,huge=never');
        $this->publish('small');
        self::assertSame('ok', $this->ask()->about('huge pages')['health']);
        $this->publish('large', range(1, 3_000_000), ['--fpr', '1e-6']); // 23 MiB
        $finding = $this->ask()->about('huge pages');
        self::assertSame('warning', $finding['health'], $finding['seen']);
        self::assertStringContainsString('huge=never, and large has 2', $finding['seen']);
        Program::output(explode(' ', explode(', if', $finding['remedy'])[0]));
        self::assertSame('ok', $this->ask()->about('huge pages')['health']);
    }

    public function testTooLittleMemoryForTheNextPublication(): void
    {
        $this->needRoot();
        $this->publish('tags', range(1, 100_000)); // 140 KiB
        $with = fn (string $memory): Doctor => $this->ask(wrapper: self::where(['/proc/meminfo' => $this->file("MemAvailable: $memory\n")]));
        $this->assertError($with('100 kB'), 'memory', '100.0 KiB available on this host', 'free memory');
        self::assertSame('ok', $with('200 kB')->about('memory')['health']);
    }

    public static function controlGroups(): iterable
    {
        yield 'of the unit' => ['/system.slice/keysieved.service', '/system.slice/keysieved.service'];
        yield 'of a group around it' => ['/system.slice/keysieved.service', '/system.slice'];
        yield 'of a container, which sees itself as the root' => ['/', ''];
    }

    /** @dataProvider controlGroups */
    public function testAControlGroupWithTooLittleMemory(string $group, string $limited): void
    {
        $this->needRoot();
        $loader = $this->loader(['tags']);
        $limits = new Tmpfs('size=1m');
        @mkdir($limits->path . $group, recursive: true);
        file_put_contents("{$limits->path}/$group/memory.max", "max\n");
        $wrapper = self::where([
            "/proc/{$loader->pid()}/cgroup" => $this->file("0::$group\n"),
            '/sys/fs/cgroup' => $limits->path,
        ]);
        $withoutLimit = $this->ask(['--config', $loader->config], $wrapper);
        self::assertSame('', (string) $withoutLimit);
        file_put_contents("{$limits->path}$limited/memory.max", "100\n");
        $finding = $this->ask(['--config', $loader->config], $wrapper)->about('memory limit');
        self::assertSame('warning', $finding['health']);
        self::assertStringContainsString("group of /proc/{$loader->pid()} may use 100 B", $finding['seen']);
        self::assertStringContainsString('MemoryMax=', $finding['remedy']);
    }

    public function testASetThatHasExpired(): void
    {
        $this->publish('tags', options: ['--as-of', '@1700000000', '--valid-for', '1h']);
        $this->assertError($this->ask(), 'set tags', 'expired', 'build and push it anew');
    }

    public function testASetThatIsBypassed(): void
    {
        $this->publish('tags');
        $this->bypass('--directory', $this->memory->path);
        $doctor = $this->ask();
        self::assertSame(0, $doctor->status, 'somebody wants it so');
        self::assertSame('warning', $doctor->about('set tags')['health']);
        self::assertSame('bypassed by an operator of this host', $doctor->about('set tags')['seen']);
        self::assertSame('keysieve bypass tags --off', $doctor->about('set tags')['remedy']);
    }

    public function testASetThatIsBypassedInTheStoreAndHere(): void
    {
        $loader = $this->loader(['tags']);
        $remedy = fn (): ?string => $this->ask()->about('set tags')['remedy'];
        $this->bypass('--store', $loader->store);
        self::assertTrue(Deadline::reaches(static fn (): bool => $remedy() === 'keysieve bypass tags --off --store URL'));
        $this->bypass('--directory', $this->memory->path);
        self::assertSame('keysieve bypass tags --off; keysieve bypass tags --off --store URL', $remedy());
    }

    public function testASnapshotOfALaterFormat(): void
    {
        $next = getenv('KEYSIEVE_BIN_DIR') . '/format2/keysieve';
        file_put_contents("{$this->memory->path}/keys", "apple\n");
        Program::output([$next, 'build', '--set', 'tags', "{$this->memory->path}/keys", '-o', "{$this->memory->path}/tags.ks"]);
        Program::output([$next, 'publish', '--directory', $this->memory->path, "{$this->memory->path}/tags.ks"]);
        $this->assertError($this->ask(), 'set tags', 'snapshot format 2, this version reads 1', 'upgrade keysieve on this host first');
    }

    public function testAClockThatHasGoneBack(): void
    {
        $this->publish('tags');
        $this->assertError($this->ask(wrapper: ['faketime', '-f', '-3600s']), 'clock', 'but tags is of', 'timedatectl');
    }

    public function testALoaderThatHasStopped(): void
    {
        $loader = $this->loader(['tags']);
        $doctor = $this->ask(['--config', $loader->config], ['faketime', '-f', '+3600s']);
        $this->assertError($doctor, 'loader of tags', 'last sign of life 1h', 'systemctl restart keysieved');
    }

    public function testALoaderWhoseIntervalIsNotKnown(): void
    {
        $this->loader(['tags'])->stop(SIGTERM);
        $doctor = $this->ask(wrapper: ['faketime', '-f', '+3600s']);
        self::assertSame('warning', $doctor->about('loader of tags')['health'], (string) $doctor);
        self::assertStringContainsString('last sign of life 1h', $doctor->about('loader of tags')['seen']);
        self::assertStringContainsString('--config', $doctor->about('loader of tags')['remedy']);
        self::assertSame(0, $doctor->status);
    }

    public function testAConfigurationThatIsWrong(): void
    {
        $this->publish('tags');
        file_put_contents("{$this->memory->path}/keysieve.toml", 'directry = "/run"');
        $doctor = $this->ask(['--config', "{$this->memory->path}/keysieve.toml"]);
        $this->assertError($doctor, 'configuration', 'directry', '--check-config');
    }

    public function testALoaderThatPublishesElsewhere(): void
    {
        $loader = $this->loader(['tags']);
        $other = new Tmpfs();
        $doctor = Doctor::ask($other->path, ['--config', $loader->config]);
        $this->assertError($doctor, 'configuration', $this->memory->path, "--directory {$this->memory->path}");
        $this->assertError($doctor, 'set tags', 'No such file or directory', 'journalctl');
    }

    public function testACacheThatOthersMayWriteTo(): void
    {
        $loader = $this->loader(['tags']);
        chmod("{$loader->folder}/cache", 0777);
        $this->assertError($this->askBeside($loader), 'cache', 'may write to it', 'install -d -o');
    }

    public function testACacheThatTheLoaderMayNotWriteTo(): void
    {
        $this->needRoot();
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        Program::output(['chown', '-R', 'daemon', $this->memory->path]);
        chmod($loader->folder, 0755);
        $this->assertError($this->askBeside($loader), 'cache', 'for daemon', "chown -R daemon {$loader->folder}/cache");
    }

    public function testAStoreThatIsAway(): void
    {
        $loader = $this->loader(['tags']);
        rename("{$loader->folder}/store", "{$loader->folder}/elsewhere");
        $doctor = $this->askBeside($loader);
        rename("{$loader->folder}/elsewhere", "{$loader->folder}/store");
        $this->assertError($doctor, 'store main', 'No such file or directory', 'start the store');
    }

    public function testAStoreThatWantsThePasswordOfTheUnit(): void
    {
        $redis = new RedisServer();
        $loader = $this->loader(['tags'], store: $redis->url);
        $redis->command('CONFIG', 'SET', 'requirepass', 'secret');
        $this->assertError($this->askBeside($loader), 'store main', 'NOAUTH', 'KEYSIEVE_REDIS_PASSWORD=… keysieve doctor');
        $told = $this->ask(['--config', $loader->config], ['env', 'KEYSIEVE_REDIS_PASSWORD=secret']);
        self::assertSame('ok', $told->about('store main')['health'], (string) $told);
    }

    public function testAStoreThatGivesItsUserNoRights(): void
    {
        $redis = new RedisServer();
        $loader = $this->loader(['tags'], store: $redis->url);
        $redis->command('ACL', 'SETUSER', 'default', '-@all');
        $this->assertError($this->askBeside($loader), 'store main', 'NOPERM', '(ACL) in the store');
    }

    public function testAPointerThatIsBroken(): void
    {
        $redis = new RedisServer();
        $loader = $this->loader(['tags'], store: $redis->url);
        $loader->stop(SIGTERM);
        foreach (explode("\n", $redis->command('KEYS', '*current*')) as $key) {
            $redis->command('SET', $key, 'broken');
        }
        $this->assertError($this->askBeside($loader), 'store main', 'tags', 'push it anew');
    }

    public function testASetThatWasNeverPushed(): void
    {
        $loader = $this->loader(['tags', 'shop'], pushed: ['tags']);
        $doctor = $this->askBeside($loader);
        $this->assertError($doctor, 'store main', 'holds no snapshot of shop', 'keysieve push shop.ks');
        $this->assertError($doctor, 'set shop', 'missing', 'journalctl');
    }

    public function testAGenerationThatDoesNotCome(): void
    {
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        $loader->push(SharedMemory::build('tags', ['apple', 'pear']));
        $doctor = $this->askBeside($loader);
        self::assertSame(0, $doctor->status);
        self::assertStringContainsString('generation 2 there, 1 here', $doctor->about('store main')['seen']);
    }

    public function testAUserWhoMayNotRead(): void
    {
        $this->needRoot();
        $this->publish('tags', publishing: ['--group', 'daemon']);
        Program::output(['chown', '-R', 'daemon', $this->memory->path]);
        $doctor = $this->ask(['--as', 'nobody']);
        $this->assertError($doctor, 'access', 'Permission denied', 'usermod -aG daemon nobody');
        self::assertSame('ok', $this->ask(['--as', 'daemon'])->about('access')['health']);
    }

    public static function foldersOfOthers(): iterable
    {
        yield 'of root and its group' => ['root', 'root'];
        yield 'of root' => ['root', 'daemon'];
        yield 'of the group root' => ['daemon', 'root'];
        yield 'of a group that is not its owner\'s' => ['daemon', 'adm'];
    }

    /**
     * Nobody is told to join a group that gives him more than the sets.
     *
     * @dataProvider foldersOfOthers
     */
    public function testAFolderWhoseGroupIsNotTheLoaders(string $owner, string $group): void
    {
        $this->needRoot();
        $this->publish('tags');
        Program::output(['chown', '-R', "$owner:$group", $this->memory->path]);
        chmod("{$this->memory->path}/tags", 02750);
        $doctor = $this->ask(['--as', 'www-data']);
        $command = "chgrp -R www-data {$this->memory->path}/tags";
        $this->assertError($doctor, 'access', 'Permission denied', "$command; and group = \"www-data\" in keysieve.toml");
        self::assertStringNotContainsString('usermod', $doctor->about('access')['remedy']);
        Program::output(explode(' ', $command));
        self::assertSame('ok', $this->ask(['--as', 'www-data'])->about('access')['health']);
    }

    public function testADirectoryWhoseNameIsNoUtf8(): void
    {
        $this->needRoot();
        $this->publish('tags');
        $other = "{$this->memory->path}/\xFF";
        mkdir($other, 0711);
        rename("{$this->memory->path}/tags", "$other/tags");
        chmod("$other/tags", 02750);
        $doctor = Doctor::ask($other, ['--as', 'nobody']);
        $this->assertError($doctor, 'access', 'Permission denied', 'chgrp -R nogroup');
        self::assertCount(1, array_keys(array_column($doctor->findings, 'subject'), 'access'));
    }

    public function testAUserWhoIsNotKnown(): void
    {
        $program = Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $this->memory->path, '--as', 'no-such-user']);
        self::assertSame(64, $program->status);
        self::assertStringContainsString('no-such-user', $program->errors);
    }

    public function testTheTextSaysTheSame(): void
    {
        chmod($this->memory->path, 0777);
        $program = Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $this->memory->path]);
        self::assertSame(1, $program->status);
        self::assertMatchesRegularExpression('~^error +directory +.*mode 0777.*\n +→ chmod o-w ~m', $program->output);
        self::assertMatchesRegularExpression('~^ok +file system +.* is a tmpfs\n~m', $program->output);
    }

    /**
     * @param array<string|int> $keys
     * @param string[]          $options    of `keysieve build`
     * @param string[]          $publishing of `keysieve publish`
     */
    private function publish(string $set, array $keys = ['apple'], array $options = [], array $publishing = []): void
    {
        $this->memory->publish(SharedMemory::build($set, $keys, $options), $publishing);
    }

    private function bypass(string ...$where): void
    {
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'bypass', 'tags', ...$where]);
    }

    /**
     * A running one, which has published.
     *
     * @param string[]  $sets
     * @param ?string[] $pushed [all]
     */
    private function loader(array $sets, ?array $pushed = null, ?string $store = null): Loader
    {
        $loader = new Loader($sets, $store, directory: $this->memory->path);
        foreach ($pushed ?? $sets as $set) {
            $loader->push(SharedMemory::build($set, ['apple']));
            $current = "{$this->memory->path}/$set/0000000000000001.ks";
            self::assertTrue(Deadline::reaches(static fn (): bool => file_exists($current)), $loader->log());
        }
        $isConfirmed = fn (string $set): bool => $this->askBeside($loader)->about("loader of $set")['health'] === 'ok';
        self::assertTrue(Deadline::reaches(fn (): bool => array_product(array_map($isConfirmed, $pushed ?? $sets)) === 1));
        return $loader;
    }

    private function askBeside(Loader $loader): Doctor
    {
        return $this->ask(['--config', $loader->config]);
    }

    /**
     * @param string[] $arguments
     * @param string[] $wrapper
     */
    private function ask(array $arguments = [], array $wrapper = []): Doctor
    {
        return Doctor::ask($this->memory->path, $arguments, $wrapper);
    }
}
