<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Builder, loader and extension of two snapshot formats, N − 1 and N, in all combinations, and what happens when they are
 * upgraded in another order than docs/operate.md says. The programs built here write format 1; tests/upgrade links
 * programs of the next two. The cases of the group release run the release that tests/upgrade/release names beside
 * the programs built here, as docs/snapshot_format.md, "Versions", promises.
 */
#[Group('upgrade')]
final class UpgradeTest extends TestCase
{
    private const TOO_OLD = 'has snapshot format 1, this version reads 2 and 3: damaged, or written by an older version; build it again';
    private const TOO_NEW = 'has snapshot format 2, this version reads 1: damaged, or written by a newer version';
    private const RELEASE = 0; // as a number of a format
    private const BUILT = 1;
    private const SEEN = "[[seen]]\nname = \"clicks\"\nkeys = 1000\nwindow = \"1d\"\nwindows = 2\nfpr = 0.000001\nstore = \"main\"\n";
    /** What a worker says of the set: its state, its publication, and whether it may contain the key "second". */
    private const OLD_ONE_IS_LIVE = 'Ready 1 false';
    private const NEW_ONE_IS_LIVE = 'Ready 2 true';
    private const NONE_IS_READ = 'Incompatible none true';

    private Folder $directory;

    public static function setUpBeforeClass(): void
    {
        foreach ([2, 3] as $format) {
            self::assertFileExists(self::programs($format) . '/keysieve.so', 'build the target next_formats, or leave out the group upgrade');
        }
    }

    protected function setUp(): void
    {
        $this->directory = new Folder('upgrade');
    }

    /** @return iterable<string, array{int, string[], int, int}> */
    public static function combinations(): iterable
    {
        foreach ([1, 2] as $loader) {
            foreach ([1, 2] as $extension) {
                foreach ([[1, []], [2, []], [2, ['--format', '1']]] as [$builder, $options]) {
                    $name = implode(' ', ["builder $builder", ...$options]);
                    yield "$name, loader $loader, extension $extension" => [$builder, $options, $loader, $extension];
                }
            }
        }
    }

    /**
     * A set of format 1 is live, a build of another version follows. A builder that is upgraded first can build for those
     * that are behind.
     *
     * @param string[] $options
     */
    #[DataProvider('combinations')]
    public function testEachReadsWhatIsNotNewerThanItself(int $builder, array $options, int $loaderFormat, int $extension): void
    {
        $built = $options === [] ? $builder : 1;
        $loader = $this->loaderWith(['first'], 1, $loaderFormat);
        $loader->push($this->build($builder, ['first', 'second'], $options), self::programs($builder));
        if ($built > $loaderFormat) {
            self::assertSoon(static fn (): bool => str_contains($loader->log(), 'refused'), $loader->log(...));
            self::assertStringContainsString(self::TOO_NEW, $loader->log());
            self::assertSame(self::OLD_ONE_IS_LIVE, $this->ask($extension)->output);
            return;
        }
        $this->await(self::NEW_ONE_IS_LIVE, $built, $loader);
        if ($built > $extension) {
            $worker = $this->ask($extension);
            self::assertSame(self::NONE_IS_READ, $worker->output);
            self::assertStringContainsString('is incompatible', $worker->errors);
            self::assertStringContainsString('upgrade this reader, or build with --format 1', $worker->errors);
            return;
        }
        self::assertSame(self::NEW_ONE_IS_LIVE, $this->ask($extension)->output);
    }

    public function testALoaderRefusesWhatIsTwoFormatsBehind(): void
    {
        $loader = $this->loaderWith(['first'], 2, 3);
        $loader->push($this->build(1, ['first', 'second']), self::programs(1));
        self::assertSoon(static fn (): bool => str_contains($loader->log(), self::TOO_OLD), $loader->log(...));
        foreach ([2, 3] as $extension) {
            self::assertSame(self::OLD_ONE_IS_LIVE, $this->ask($extension)->output);
        }
    }

    public function testNoProgramReadsWhatIsTwoFormatsBehind(): void
    {
        $old = $this->build(1, ['first']);
        $inspected = Program::run([self::program(3), 'inspect', $old]);
        self::assertSame(65, $inspected->status);
        self::assertStringContainsString(self::TOO_OLD, $inspected->errors);
        $refused = Program::run([self::program(3), 'build', '--set', 'tags', '--format', '1', "{$this->directory}/keys", '-o', $old]);
        self::assertSame(64, $refused->status);
        self::assertStringContainsString('format 1 is not built by this version, which knows 2 and 3', $refused->errors);
        Program::keysieve('publish', '--directory', (string) $this->directory, $old);
        self::assertSame(self::NONE_IS_READ, $this->ask(3)->output);
    }

    /** Loader and store go back by one version: what is live stays, until a build of the old format comes. */
    public function testADowngradeKeepsWhatIsLive(): void
    {
        $loader = $this->loaderWith(['first'], 2, 2);
        $loader->restart(SIGTERM, self::programs(1));
        self::assertSoon(static fn (): bool => str_contains($loader->log(), 'this version reads 1'), $loader->log(...));
        self::assertSame(self::OLD_ONE_IS_LIVE, $this->ask(2)->output);
        $loader->push($this->build(2, ['first', 'second'], ['--format', '1']), self::programs(2));
        $this->await(self::NEW_ONE_IS_LIVE, 1, $loader);
        self::assertSame(self::NEW_ONE_IS_LIVE, $this->ask(1)->output);
        self::assertSame(self::NEW_ONE_IS_LIVE, $this->ask(2)->output);
    }

    /** @return iterable<string, array{string, string}> files of the release, and what in them must stay */
    public static function frozen(): iterable
    {
        yield 'golden files' => ['tests/golden/*.ks', '/^.*$/s'];
        yield 'JSON' => ['docs/schemas/*.json', '/"\w+": \{/'];
        yield 'configuration' => ['tools/loader/keysieve.toml.example', '/^#?\w+ =/m'];
        yield 'settings' => ['ext/settings.cpp', '/"keysieve\.\w+"/'];
        yield 'PHP' => ['ext/keysieve.stub.php', '/\b(?:class|interface|enum|function|const|case) \w+/'];
        yield 'metrics' => ['tests/tools/loader/http/golden/metrics.txt', '/^# TYPE .+/m'];
    }

    #[DataProvider('frozen')]
    #[Group('release')]
    public function testBytesAndNamesOfTheReleaseStay(string $files, string $pattern): void
    {
        self::assertNotSame([], $paths = glob(self::release() . "/sources/$files"));
        foreach ($paths as $path) {
            $here = dirname(__DIR__) . substr($path, strlen(self::release() . '/sources'));
            [$before, $now] = array_map(static function (string $file) use ($pattern): array {
                preg_match_all($pattern, file_get_contents($file), $found);
                return $found[0];
            }, [$path, $here]);
            self::assertNotSame([], $before, $path);
            self::assertTrue(array_diff($before, $now) === [], $here);
        }
    }

    /** @return iterable<string, array{int, int, string}> two versions, and a store */
    public static function takeovers(): iterable
    {
        foreach (['lmdb', 'dir'] as $store) {
            yield "the release first, $store" => [self::RELEASE, self::BUILT, $store];
            yield "the release second, $store" => [self::BUILT, self::RELEASE, $store];
        }
    }

    /** In turns one version loads, and the other builds and adds; what was ever built, added or seen stays known to both. */
    #[DataProvider('takeovers')]
    #[Group('release')]
    public function testEachGoesOnWithWhatTheOtherLeft(int $first, int $second, string $scheme): void
    {
        $loader = new Loader(['tags'], (string) $this->directory, self::programs($first), $scheme, self::SEEN);
        $kinds = json_decode(Program::output([self::program($first), 'plan', '--keys', '1', '--all', '--json']), true)['kinds'];
        $known = [];
        foreach ([...array_column($kinds, 'kind'), 'split_block_bloom'] as $step => $kind) {
            [$loads, $builds] = $step % 2 === 0 ? [$first, $second] : [$second, $first];
            if ($step > 0) { // at every third, after a reboot
                $loader->restart(SIGTERM, self::programs($loads), $step % 3 === 0 ? glob("{$this->directory}/*") : []);
                $this->awaitKnown($loader, $known);
                self::assertSame(0, $this->newOf($loader, $known), $loader->log());
            }
            $new = ["built $step", "added $step", "late $step"];
            $options = ['--kind', $kind, '--fpr', '0.000001', '--like', $loader->store];
            $loader->push($this->build($builds, [...$known, $new[0]], $options), self::programs($builds));
            Program::output([self::program($builds), 'add', 'tags', $new[1], $loader->store]);
            Program::output([self::program($loads), 'add', 'tags', $new[2], $loader->store]);
            array_push($known, ...$new);
            $this->awaitKnown($loader, $known);
            self::assertSame(3, $this->newOf($loader, $known), $loader->log());
        }
        $loader->restart(SIGTERM, self::programs($builds), [...glob("{$this->directory}/*"), substr($loader->store, strlen("$scheme:"))]);
        $this->awaitKnown($loader, $known); // from the other's cache
    }

    private static function release(): string
    {
        return getenv('KEYSIEVE_RELEASE') ?: throw new \RuntimeException('KEYSIEVE_RELEASE is what tests/upgrade/build_release prints');
    }

    private static function programs(int $format): string
    {
        if ($format === self::RELEASE) {
            return self::release() . '/bin';
        }
        return getenv('KEYSIEVE_BIN_DIR') . ($format === 1 ? '' : "/format$format");
    }

    private static function program(int $format): string
    {
        return self::programs($format) . '/keysieve';
    }

    /**
     * @param string[] $keys
     * @param string[] $options
     */
    private function build(int $format, array $keys, array $options = []): string
    {
        [$list, $snapshot] = ["{$this->directory}/keys", "{$this->directory}/tags.ks"];
        file_put_contents($list, implode("\n", $keys) . "\n");
        Program::output([self::program($format), 'build', '--set', 'tags', ...$options, ...[$list, '-o', $snapshot]]);
        return $snapshot;
    }

    /**
     * A running loader that has published what a builder has pushed.
     *
     * @param string[] $keys
     */
    private function loaderWith(array $keys, int $builder, int $loaderFormat): Loader
    {
        $loader = new Loader(['tags'], (string) $this->directory, self::programs($loaderFormat));
        $loader->push($this->build($builder, $keys), self::programs($builder));
        $this->await(self::OLD_ONE_IS_LIVE, $builder, $loader);
        return $loader;
    }

    /**
     * Until these keys are in the set for both versions, and no other.
     *
     * @param string[] $known
     */
    private function awaitKnown(Loader $loader, array $known): void
    {
        $wanted = json_encode(['Ready', ...array_fill(0, count($known), true), false]);
        foreach ([self::RELEASE, self::BUILT] as $version) {
            self::assertSoon(fn (): bool => $this->code($version, $known, <<<'PHP'
                $set = new KeySieve\Set('tags');
                $answers = array_map($set->mayContain(...), [...$argv, 'absent']);
                echo json_encode([$set->availability()->name, ...$answers]);
                PHP) === $wanted, $loader->log(...));
        }
    }

    /**
     * Adds keys to the seen set by both versions, and says how many were new to the first of them.
     *
     * @param string[] $keys
     */
    private function newOf(Loader $loader, array $keys): int
    {
        self::assertSoon(fn (): bool => $this->code(self::BUILT, [], 'echo (new KeySieve\SeenSet("clicks"))->availability()->name;') === 'Ready', $loader->log(...));
        $add = 'echo array_sum((new KeySieve\SeenSet("clicks"))->addManyIfNew($argv));';
        $new = (int) $this->code(self::RELEASE, $keys, $add);
        self::assertSame('0', $this->code(self::BUILT, $keys, $add), $loader->log());
        return $new;
    }

    /** @param string[] $keys for the code: $argv */
    private function code(int $extension, array $keys, string $code): string
    {
        return Program::output([...$this->interpreter($extension), '-r', "array_shift(\$argv);\n$code", '--', ...$keys]);
    }

    private function await(string $answer, int $extension, Loader $loader): void
    {
        self::assertSoon(fn (): bool => $this->ask($extension)->output === $answer, $loader->log(...));
    }

    /** @return string[] */
    private function interpreter(int $extension): array
    {
        $library = $extension === 1 ? getenv('KEYSIEVE_EXTENSION') : self::programs($extension) . '/keysieve.so';
        return PhpScript::interpreter(['extension' => $library, 'keysieve.directory' => $this->directory]);
    }

    private function ask(int $extension): Program
    {
        return Program::run([...$this->interpreter($extension), '-r', <<<'PHP'
            $set = new KeySieve\Set('tags');
            $second = $set->mayContain('second');
            echo $set->availability()->name, ' ', $set->info()->publication ?? 'none', ' ', json_encode($second);
            PHP]);
    }
}
