<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Set;
use KeySieve\Tests\Support\AsksDoctor;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Doctor;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Tmpfs;
use PHPUnit\Framework\TestCase;

/** What `keysieve doctor --config` finds: it asks the loader's stores, and looks at keysieved itself. */
final class DoctorLoaderTest extends TestCase
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
        $withoutLimit = $this->askBeside($loader, $wrapper);
        self::assertSame('', (string) $withoutLimit);
        file_put_contents("{$limits->path}$limited/memory.max", "100\n");
        $finding = $this->askBeside($loader, $wrapper)->about('memory limit');
        self::assertSame('warning', $finding['health']);
        self::assertStringContainsString("group of /proc/{$loader->pid()} may use 100 B", $finding['seen']);
        self::assertStringContainsString('MemoryMax=', $finding['remedy']);
    }

    /** @return iterable<array{string[], bool}> arguments of keysieved, and whether its configuration lies where it does by default */
    public static function waysToNameAConfiguration(): iterable
    {
        yield 'from the working directory' => [['--config', 'keysieve.toml'], false];
        yield 'in one word' => [['--config=../{folder}/keysieve.toml'], false];
        yield 'not at all' => [[], true];
    }

    /**
     * @param string[] $arguments
     *
     * @dataProvider waysToNameAConfiguration
     */
    public function testALoaderThatNamesItsConfigurationInAnotherWay(array $arguments, bool $isDefault): void
    {
        $this->needRoot();
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        $finding = $this->askBeside($loader)->about('loader');
        self::assertSame('warning', $finding['health']);
        self::assertSame("no keysieved is seen to run with {$loader->config}", $finding['seen']);
        $etc = new Tmpfs();
        symlink($loader->folder, "{$etc->path}/keysieve");
        $wrapper = $isDefault ? self::where(['/etc' => $etc->path]) : [];
        $arguments = str_replace('{folder}', basename($loader->folder), $arguments);
        $loader->start([...$wrapper, getenv('KEYSIEVE_BIN_DIR') . '/keysieved', ...$arguments], $loader->folder);
        $seen = fn (): string => $this->askBeside($loader, $wrapper)->about('loader')['seen'];
        $right = "/proc/{$loader->pid()} runs with {$loader->config}";
        self::assertTrue(Deadline::reaches(static fn (): bool => $seen() === $right), $loader->log());
        copy($loader->config, "{$loader->folder}/other.toml");
        $other = Doctor::ask($this->memory->path, ['--config', "{$loader->folder}/other.toml"], $wrapper);
        self::assertStringContainsString('no keysieved', $other->about('loader')['seen']);
    }

    /**
     * As in another container.
     *
     * @testWith ["configuration"]
     *           ["directory"]
     */
    public function testALoaderThatSeesSomethingElseInThatPlace(string $what): void
    {
        $this->needRoot();
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        copy($loader->config, "{$loader->folder}/other.toml");
        $elsewhere = new Tmpfs();
        $wrapper = self::where([
            'configuration' => [$loader->config => "{$loader->folder}/other.toml"],
            'directory' => [$this->memory->path => $elsewhere->path],
        ][$what]);
        $loader->start([...$wrapper, getenv('KEYSIEVE_BIN_DIR') . '/keysieved', '--config', $loader->config]);
        $isSeen = fn (array $wrapper): bool => $this->askBeside($loader, $wrapper)->about('loader')['health'] === 'ok';
        self::assertTrue(Deadline::reaches(static fn (): bool => $isSeen($wrapper)), $loader->log());
        self::assertFalse($isSeen([]));
    }

    public function testALoaderThatWasReplaced(): void
    {
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        $copy = "{$this->memory->path}/keysieved";
        copy(getenv('KEYSIEVE_BIN_DIR') . '/keysieved', $copy);
        chmod($copy, 0755);
        $loader->start([$copy, '--config', $loader->config]);
        $about = fn (): array => $this->askBeside($loader)->about('loader');
        self::assertTrue(Deadline::reaches(static fn (): bool => $about()['health'] === 'ok'), $loader->log());
        unlink($copy);
        self::assertSame('warning', $about()['health']);
        self::assertStringContainsString("/proc/{$loader->pid()} still runs", $about()['seen']);
        self::assertSame('systemctl restart keysieved', $about()['remedy']);
    }

    /** In the loader's container the doctor has the same limit, in PHP's another. */
    public function testTheDoctorsOwnControlGroupWhereNoLoaderIsSeen(): void
    {
        $this->needRoot();
        if (!str_contains(file_get_contents('/proc/self/cgroup'), '0::')) {
            self::markTestSkipped('there are no control groups of version 2');
        }
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        $limits = new Tmpfs('size=1m');
        file_put_contents("{$limits->path}/memory.max", "100\n");
        $wrapper = self::where(['/sys/fs/cgroup' => $limits->path]);
        $finding = $this->askBeside($loader, $wrapper)->about('memory limit');
        self::assertSame('warning', $finding['health']);
        self::assertStringContainsString('/proc/self may use 100 B', $finding['seen']);
        $pool = new FpmPool('', ['pages' => ['php_admin_value[keysieve.directory]' => $this->memory->path]]);
        $ofWorkers = Doctor::ask($this->memory->path, ['--fastcgi', "unix:{$pool->socket}"], $wrapper);
        self::assertNotContains('memory limit', array_column($ofWorkers->findings, 'subject'), 'that of PHP does not count');
    }

    /** Who has the directory has every set. */
    public function testASetOfSomebodyElse(): void
    {
        $this->needRoot();
        $loader = $this->loader(['tags', 'shop']);
        $folder = "{$this->memory->path}/shop";
        Program::output(['chown', '-R', 'www-data', $folder]);
        $this->assertError($this->askBeside($loader), 'set shop', 'not trusted', '');
        [$command, $rest] = explode('; ', $this->askBeside($loader)->about('set shop')['remedy']);
        self::assertSame(["rm -r $folder", 'keysieved makes it anew'], [$command, $rest]);
        Program::output(explode(' ', $command));
        $isReady = fn (): bool => $this->askBeside($loader)->about('set shop')['health'] === 'ok';
        self::assertTrue(Deadline::reaches($isReady), $loader->log());
    }

    public function testASetThatIsBypassedInTheStoreAndHere(): void
    {
        $loader = $this->loader(['tags']);
        $remedy = fn (): ?string => Doctor::ask($this->memory->path)->about('set tags')['remedy'];
        $this->bypass('--store', $loader->store);
        self::assertTrue(Deadline::reaches(static fn (): bool => $remedy() === 'keysieve bypass tags --off --store URL'));
        $this->bypass('--directory', $this->memory->path);
        self::assertSame('keysieve bypass tags --off; keysieve bypass tags --off --store URL', $remedy());
    }

    /** The configuration names the sets, and the cache tells as whom the loader runs. */
    public function testADirectoryThatIsMissing(): void
    {
        $this->needRoot();
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        $pool = new FpmPool('', ['pages' => ['php_admin_value[keysieve.directory]' => $this->memory->path]]);
        Program::output(['chown', '-R', 'daemon', $loader->folder]);
        Program::output(['rm', '-r', $this->memory->path]);
        $doctor = $this->askBeside($loader, arguments: ['--fastcgi', "unix:{$pool->socket}"]);
        $this->assertError($doctor, 'directory', 'No such file or directory', 'systemctl restart keysieved');
        $this->assertError($doctor, 'worker, set tags', 'Missing', 'see above');
        self::assertStringEndsWith('daemon can write to it', $doctor->about('cache')['seen']);
        self::assertStringEndsWith('tags has generation 1', $doctor->about('store main')['seen']);
        self::assertSame('ok', $doctor->about('keysieve.directory')['health']);
    }

    public function testALoaderThatHasStopped(): void
    {
        $loader = $this->loader(['tags']);
        $doctor = $this->askBeside($loader, Clock::moved('+3600s'));
        $this->assertError($doctor, 'loader of tags', 'last sign of life 1h', 'systemctl restart keysieved');
    }

    public function testALoaderWhoseIntervalIsNotKnown(): void
    {
        $this->loader(['tags'])->stop(SIGTERM);
        $doctor = Doctor::ask($this->memory->path, wrapper: Clock::moved('+3600s'));
        self::assertSame('warning', $doctor->about('loader of tags')['health'], (string) $doctor);
        self::assertStringContainsString('last sign of life 1h', $doctor->about('loader of tags')['seen']);
        self::assertStringContainsString('--config', $doctor->about('loader of tags')['remedy']);
        self::assertSame(0, $doctor->status);
    }

    /** Workers that have it attached see the bypass in what they have mapped, others find nothing. */
    public function testASetThatIsNoLongerConfigured(): void
    {
        $loader = new Loader(['abandoned']);
        $loader->push(SharedMemory::build('abandoned', ['apple']));
        $set = new Set('abandoned');
        self::assertTrue(Deadline::reaches(static fn (): bool => !$set->mayContain('pear')), $loader->log());
        $loader->stop(SIGTERM);
        file_put_contents($loader->config, str_replace('"abandoned"', '"other"', file_get_contents($loader->config)));
        $directory = SharedMemory::directory();
        $ask = static fn (string $config): array => Doctor::ask($directory, ['--config', $config], Clock::moved('+3600s'))->about('loader of abandoned');
        $elsewhere = "{$this->memory->path}/elsewhere.toml";
        file_put_contents($elsewhere, str_replace($directory, $this->memory->path, file_get_contents($loader->config)));
        self::assertSame('--config FILE, that of keysieved, tells how long it may be', $ask($elsewhere)['remedy'], 'not that of another directory');
        $finding = $ask($loader->config);
        self::assertSame('warning', $finding['health']);
        self::assertStringContainsString('published here, but not configured', $finding['seen']);
        $commands = explode(': ', $finding['remedy'])[1];
        self::assertSame("keysieve bypass abandoned --directory $directory && rm -r $directory/abandoned", $commands);
        Program::output(['sh', '-c', 'PATH="$0:$PATH"; ' . $commands, getenv('KEYSIEVE_BIN_DIR')]);
        for ($call = 0; $call < 10_000; ++$call) {
            self::assertTrue($set->mayContain('pear'));
        }
        self::assertSame(Availability::Bypassed, $set->availability());
        self::assertSame('Missing', PhpScript::run("echo (new Set('abandoned'))->availability()->name;")->output);
    }

    public function testAConfigurationThatIsWrong(): void
    {
        file_put_contents("{$this->memory->path}/keysieve.toml", 'directry = "/run"');
        $doctor = Doctor::ask($this->memory->path, ['--config', "{$this->memory->path}/keysieve.toml"]);
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

    public function testTheDirectoryByAnotherName(): void
    {
        $loader = $this->loader(['tags']);
        $links = new Tmpfs();
        symlink($this->memory->path, "{$links->path}/sets");
        $withSlash = "{$links->path}/with-slash.toml";
        file_put_contents($withSlash, str_replace($this->memory->path, "{$this->memory->path}/", file_get_contents($loader->config)));
        $ask = static fn (string $directory, string $config): array => Doctor::ask($directory, ['--config', $config])->about('configuration');
        foreach ([$this->memory->path, "{$this->memory->path}/", "{$links->path}/sets", "{$links->path}/sets/"] as $directory) {
            self::assertSame('ok', $ask($directory, $loader->config)['health'], $directory);
            self::assertSame('ok', $ask($directory, $withSlash)['health'], $directory);
        }
        Program::output(['rm', '-r', $this->memory->path]);
        self::assertSame('ok', $ask("{$this->memory->path}/", $loader->config)['health'], 'when it is gone');
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
        $told = $this->askBeside($loader, ['env', 'KEYSIEVE_REDIS_PASSWORD=secret']);
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
        $this->needRoot();
        $loader = $this->loader(['tags']);
        $loader->stop(SIGTERM);
        $loader->push(SharedMemory::build('tags', ['apple', 'pear']));
        Program::output(['chown', '-R', 'daemon', $this->memory->path, $loader->folder]);
        $doctor = $this->askBeside($loader);
        self::assertSame(0, $doctor->status);
        self::assertStringContainsString('generation 2 there, 1 here', $doctor->about('store main')['seen']);
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

    /**
     * @param string[] $wrapper
     * @param string[] $arguments
     */
    private function askBeside(Loader $loader, array $wrapper = [], array $arguments = []): Doctor
    {
        return Doctor::ask($this->memory->path, ['--config', $loader->config, ...$arguments], $wrapper);
    }

    private function bypass(string ...$where): void
    {
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'bypass', 'tags', ...$where]);
    }
}
