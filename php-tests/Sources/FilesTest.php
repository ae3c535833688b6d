<?php

declare(strict_types=1);

namespace KeySieve\Tests\Sources;

use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** Sets as files in a folder: also the one that comes with the package, and in php-fpm, where each request begins without the classes. */
final class FilesTest extends TestCase
{
    private Folder $folder;
    private Clock $clock;

    protected function setUp(): void
    {
        $this->folder = new Folder('sources');
        $this->clock = new Clock();
    }

    public function testAFileAnswersAndANewerOneTakesItsPlace(): void
    {
        $this->buildFile(['apple'], ['--key-profile', 'raw', '--known-absent', SharedMemory::list('absent', self::keys(1_000, 'absent'))]);
        $next = $this->build(['apple', 'pear']);
        $script = $this->ask("files:$this->folder", <<<PHP
            \$say(count((new Set('fruits'))->candidates(array_map(fn (\$i) => "absent \$i", range(1, 1000)))));
            \$say((new Set('fruits', 'raw'))->mayContainMany(['apple', 'pear']), (new Set('fruits', 'lower'))->availability()->name);
            rename('$next', '$this->folder/fruits.ks');
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear']));
            PHP);
        self::assertSame("[0]\n[[true,false],\"Incompatible\"]\n[[true,true]]\n", $script->output);
    }

    public function testAFileThatIsReplacedByADamagedOneKeepsAnswering(): void
    {
        $this->buildFile(['apple']);
        $script = $this->ask("files:$this->folder", <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear']));
            file_put_contents('$this->folder/new', 'not a snapshot');
            rename('$this->folder/new', '$this->folder/fruits.ks');
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear']), \$set->availability()->name);
            PHP);
        self::assertSame("[[true,false]]\n[[true,false],\"Ready\"]\n", $script->output);
        self::assertStringContainsString('keeps its old publication: ' . "$this->folder/fruits.ks: is not a whole snapshot", $script->errors);
    }

    public function testADamagedFileIsReadOnce(): void
    {
        file_put_contents("$this->folder/fruits.ks", str_repeat('x', 8_000));
        $script = $this->ask("files:$this->folder", <<<'PHP'
            $read = fn (): int => (int) substr(file('/proc/self/io')[0], strlen('rchar: '));
            $later(10);
            $before = [$read(), $set->mayContain('apple'), $read()];
            $later(20);
            $say($before[2] - $before[0] > 4096, $set->mayContain('apple'), $read() - $before[2] > 4096);
            PHP);
        self::assertSame("[true,true,false]\n", $script->output, $script->errors);
    }

    public function testNamesFromInputTakeBoundedMemory(): void
    {
        $this->buildFile(['apple']);
        $script = $this->ask("files:$this->folder", <<<'PHP'
            array_map(fn (int $name): bool => KeySieve\may_contain("name-$name", 'apple'), range(1, 3_000));
            $say(count(KeySieve\stats()) <= 1_024, $set->mayContainMany(['apple', 'pear']));
            PHP);
        self::assertSame("[true,[true,false]]\n", $script->output);
    }

    public function testAControlPageCutShortSaysNothingOfTheSnapshot(): void
    {
        SharedMemory::put('cut', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('cut');
            $set->mayContain('apple');
            ftruncate(fopen(get_cfg_var('keysieve.directory') . '/cut/control', 'r+'), 100);
            echo json_encode([$set->info()->lastConfirmedAt, $set->mayContain('pear')]);
            PHP);
        self::assertSame('[null,false]', $script->output, $script->errors);
    }

    public function testAFileThatCannotBeOpenedForAMomentIsFollowedLater(): void
    {
        $this->buildFile(['apple']);
        $next = $this->build(['apple', 'pear']);
        // By the machine's own clock: where no file can be opened, libfaketime does not find its moment.
        $script = PhpScript::run(<<<PHP
            \$ask = static fn (): bool => (new Set('fruits'))->mayContain('pear');
            \$first = \$ask();
            rename('$next', '$this->folder/fruits.ks');
            while (time() - filectime('$this->folder/fruits.ks') < 2) { // then only one look opens it
                usleep(10_000);
                clearstatcache();
            }
            \$most = max(array_map(intval(...), scandir('/proc/self/fd'))) + 10; // it may have inherited some
            exec("prlimit --nofile=\$most --pid " . getmypid());
            for (\$files = []; \$file = @fopen('/dev/null', 'r'); \$files[] = \$file);
            \$second = \$ask();
            \$files = [];
            \$until = hrtime(true) + 60e9;
            while (!(\$third = \$ask()) && hrtime(true) < \$until) {
                usleep(10_000);
            }
            echo json_encode([\$first, \$second, \$third]);
            PHP, ['keysieve.directory' => ''], environment: ['KEYSIEVE_SOURCE' => "files:$this->folder"]);
        self::assertSame('[false,false,true]', $script->output, $script->errors);
        self::assertStringContainsString('fruits.ks: Too many open files', $script->errors);
    }

    public function testAMissingFileAndAFolderInItsPlaceMeanMaybe(): void
    {
        foreach (["set \"fruits\" is missing ($this->folder/fruits.ks: No such file or directory)", 'fruits.ks: not a regular file'] as $reason) {
            $script = $this->ask("files:$this->folder", '$say($set->mayContain("pear"), $set->availability()->name);');
            self::assertSame("[true,\"Missing\"]\n", $script->output);
            self::assertStringContainsString($reason, $script->errors);
            @mkdir("$this->folder/fruits.ks");
        }
    }

    public function testAPublishedSetThatIsMissingIsLookedForOncePerSecond(): void
    {
        $this->buildFile(['apple']);
        mkdir("$this->folder/published");
        $script = $this->ask("directory:$this->folder/published", <<<PHP
            \$say(\$set->mayContain('pear'));
            exec(getenv('KEYSIEVE_BIN_DIR') . "/keysieve publish --directory '$this->folder/published' '$this->folder/fruits.ks'");
            \$say(\$set->mayContain('pear'));
            \$later(1);
            \$say(\$set->mayContain('pear'));
            PHP);
        self::assertSame("[true]\n[true]\n[false]\n", $script->output, $script->errors);
    }

    /** The pipe may have been put there since the file was looked at. */
    public function testAFileIsOpenedSoThatAPipeInItsPlaceIsNotWaitedFor(): void
    {
        $this->buildFile(['apple']);
        $script = PhpScript::run(
            "echo json_encode((new Set('fruits'))->mayContainMany(['apple', 'pear']));",
            ['keysieve.directory' => ''],
            ['strace', '-e', 'trace=open,openat', '-o', "$this->folder/trace"],
            ['KEYSIEVE_SOURCE' => "files:$this->folder"],
        );
        self::assertSame('[true,false]', $script->output, $script->errors);
        $opened = preg_grep('/fruits\.ks/', file("$this->folder/trace"));
        self::assertNotEmpty($opened);
        self::assertSame($opened, preg_grep('/O_NONBLOCK/', $opened));
    }

    /** As by rsync --inplace --times. */
    public function testAFileThatIsWrittenAgainInItsSecondWithAnOldTimeIsFollowed(): void
    {
        [$one, $other] = [$this->build(['pear']), $this->build(['plum'])];
        $script = $this->ask("files:$this->folder", <<<PHP
            \$write = fn (string \$from): bool => copy(\$from, '$this->folder/fruits.ks') && touch('$this->folder/fruits.ks', 1_600_000_000);
            \$write('$one');
            \$say(\$set->mayContainMany(['pear', 'plum']));
            \$write('$other');
            \$later(10);
            \$say(\$set->mayContainMany(['pear', 'plum']));
            PHP);
        self::assertSame("[[true,false]]\n[[false,true]]\n", $script->output, $script->errors);
    }

    /** @return iterable<string, array{string, string}> a link that will lead elsewhere, and what the set's file is by then */
    public static function links(): iterable
    {
        yield 'to a release' => ['current', 'current/fruits.ks'];
        yield 'on the way of another link' => ['.data', 'fruits.ks']; // as Kubernetes mounts volumes
    }

    /** PHP remembers where links lead. */
    #[DataProvider('links')]
    public function testALinkThatLeadsElsewhereIsFollowed(string $link, string $file): void
    {
        foreach (['apple' => 1, 'pear' => 2] as $key => $release) {
            mkdir("$this->folder/$release");
            rename($this->build([$key]), "$this->folder/$release/fruits.ks");
        }
        symlink('1', "$this->folder/$link");
        if ($file === 'fruits.ks') {
            symlink("$link/$file", "$this->folder/$file");
        }
        $folder = dirname("$this->folder/$file");
        $script = $this->ask("files:$folder", <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear']));
            exec("ln -sfn 2 '$this->folder/$link'");
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear']));
            PHP);
        self::assertSame("[[true,false]]\n[[false,true]]\n", $script->output, $script->errors);
    }

    public function testADamagedShardIsLoggedOnce(): void
    {
        $this->buildFile(['apple']);
        $file = "$this->folder/fruits.ks";
        $bytes = file_get_contents($file);
        $bytes[-1] = $bytes[-1] ^ "\x01";
        file_put_contents($file, $bytes);
        $script = $this->ask("files:$this->folder", <<<'PHP'
            $later(60); // before, it might still be written
            for ($second = 0; $second < 5; ++$second) {
                $set->mayContain('pear') || exit('absent');
                $later(1);
            }
            $say($set->availability()->name);
            PHP);
        self::assertSame("[\"Missing\"]\n", $script->output);
        self::assertSame(1, substr_count($script->errors, "\n"), $script->errors);
        self::assertStringContainsString('shards are damaged', $script->errors);
    }

    public function testALargeSetNeedsLittleMemory(): void
    {
        $this->buildFile(range(1, 200_000), ['--growth', '100']);
        self::assertGreaterThan(60 << 20, filesize("$this->folder/fruits.ks"));
        $script = $this->ask("files:$this->folder", <<<'PHP'
            for ($key = 1; $key <= 200_000; $key += 200) {
                in_array(false, $set->mayContainMany(range($key, $key + 19)), true) && exit('absent');
            }
            $say(memory_get_peak_usage() < 8_000_000);
            PHP);
        self::assertSame("[true]\n", $script->output);
    }

    #[DataProvider('kinds')]
    public function testARequestLoadsTwelveFilesAtMostWhetherTheSetIsReadyOrNot(string $kind): void
    {
        self::needsRoot(); // whom the package trusts without the extension posix
        $keys = SharedMemory::list('keys', ['apple']);
        $this->buildSet($kind, '--kind', $kind, $keys);
        SharedMemory::publishWithLayer("$this->folder/$kind.ks");
        SharedMemory::addLive($kind, 'plum');
        $ask = "\$set = new KeySieve\\Set('$kind');
            echo json_encode([\$set->mayContainMany(['apple', 'pear', 'plum']), function_exists('pcntl_signal') ? 0 : \$loaded()]);";
        [$file, $directory] = [$this->pool($ask), $this->pool($ask, 'directory:' . SharedMemory::directory())];
        self::assertLoadsFewFiles([true, false, false], $file);
        self::assertLoadsFewFiles([true, false, true], $directory);
        $this->buildSet($kind, '--kind', $kind, '--as-of', '2020-01-01T00:00:00Z', '--valid-for', '1h', $keys);
        SharedMemory::bypass($kind);
        self::assertLoadsFewFiles([true, true, true], $file);
        self::assertLoadsFewFiles([true, true, true], $directory);
    }

    /** @param bool[] $expected */
    private static function assertLoadsFewFiles(array $expected, FpmPool $pool): void
    {
        [$found, $files] = json_decode($pool->request()->body(), flags: JSON_THROW_ON_ERROR);
        self::assertSame($expected, $found);
        self::assertLessThanOrEqual(12, $files);
    }

    public function testMapsAndSeenSetsHaveTheirClassesToo(): void
    {
        file_put_contents("$this->folder/tiers", "apple\t3\n");
        $this->buildSet('tiers', '--values', "$this->folder/tiers");
        $pool = $this->pool('echo json_encode([(new KeySieve\Map("tiers"))->get("apple", fn () => null), (new KeySieve\SeenSet("clicks"))->availability()->name]);');
        self::assertSame('[3,"Missing"]', $pool->request()->body());
    }

    private function buildSet(string $name, string ...$options): void
    {
        Program::keysieve('build', '--set', $name, '--fpr', '0.0001', ...$options, ...['-o', "$this->folder/$name.ks"]);
    }

    private function pool(string $script, ?string $source = null): FpmPool
    {
        $source ??= "files:$this->folder";
        $bootstrap = getenv('KEYSIEVE_PACKAGE') . '/bootstrap.php';
        return new FpmPool("\$before = count(get_included_files());
            \$loaded = fn (): int => count(get_included_files()) - \$before;
            require '$bootstrap';
            KeySieve\\Reader\\Settings::use('$source');
            $script", isBare: true);
    }

    /** Runs code with $set, which asks the source, $say(), which writes JSON, and $later(), which moves the clock. */
    private function ask(string $source, string $code): Program
    {
        $prelude = <<<'PHP'
            $set = new Set('fruits');
            $say = fn (mixed ...$what) => print(json_encode($what) . "\n");
            $later = fn (int $seconds) => fwrite(fopen(getenv('FAKETIME_TIMESTAMP_FILE'), 'c'), (string) (time() + $seconds));

            PHP;
        return PhpScript::run($prelude . $code, ['keysieve.directory' => ''], environment: ['KEYSIEVE_SOURCE' => $source, 'NO_FAKE_STAT' => '1'] + $this->clock->environment());
    }

    /** @param array<string|int> $keys */
    private function build(array $keys, array $options = []): string
    {
        $snapshot = tempnam((string) $this->folder, 'built-');
        Program::keysieve('build', '--set', 'fruits', '--fpr', '0.0001', ...$options, ...[SharedMemory::list('keys', $keys), '-o', $snapshot]);
        return $snapshot;
    }

    private function buildFile(array $keys, array $options = []): void
    {
        rename($this->build($keys, $options), "$this->folder/fruits.ks");
    }
}
