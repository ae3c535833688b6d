<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\TestCase;
use KeySieve\Tests\Support\Tmpfs;

/**
 * Builder, loader and extension of two snapshot formats, N − 1 and N, in all combinations, and what happens when they are
 * upgraded in another order than docs/operate.md says. What is built is of format 1; tests/upgrade links programs of the
 * next two.
 *
 * @group upgrade
 */
final class UpgradeTest extends TestCase
{
    private Tmpfs $memory;

    public static function setUpBeforeClass(): void
    {
        foreach ([2, 3] as $format) {
            self::assertFileExists(self::programs($format) . '/keysieve.so', 'build the target next_formats, or leave out the group upgrade');
        }
    }

    protected function setUp(): void
    {
        $this->memory = new Tmpfs();
    }

    protected function tearDown(): void
    {
        unset($this->memory);
    }

    public static function combinations(): iterable
    {
        foreach ([1, 2] as $builder) {
            foreach ([1, 2] as $loader) {
                foreach ([1, 2] as $extension) {
                    yield "builder $builder, loader $loader, extension $extension" => [$builder, $loader, $extension];
                }
            }
        }
    }

    /**
     * A set of format 1 is live, a build of another version follows.
     *
     * @dataProvider combinations
     */
    public function testEachReadsWhatIsNotNewerThanItself(int $builder, int $loaderFormat, int $extension): void
    {
        $loader = $this->loaderWith(['first'], 1, $loaderFormat);
        $loader->push($this->build($builder, ['first', 'second']), self::programs($builder));
        if ($builder > $loaderFormat) {
            $this->assertReaches(fn (): bool => str_contains($loader->log(), 'refused'), $loader);
            self::assertStringContainsString('has snapshot format 2, this version reads 1: damaged, or written by a newer version', $loader->log());
            self::assertSame(['publication' => 1, 'second' => false], $this->answer($extension), 'the old one stays live');
            return;
        }
        $this->assertReaches(fn (): bool => $this->publication(2) === 2, $loader);
        if ($builder > $extension) {
            $worker = $this->ask($extension);
            self::assertSame('Incompatible true', $worker->output, 'every lookup answers maybe');
            self::assertStringContainsString('is incompatible', $worker->errors);
            self::assertStringContainsString('upgrade this reader, or build with --format 1', $worker->errors);
            return;
        }
        self::assertSame(['publication' => 2, 'second' => true], $this->answer($extension));
    }

    public static function readers(): iterable
    {
        foreach ([1, 2] as $loader) {
            foreach ([1, 2] as $extension) {
                yield "loader $loader, extension $extension" => [$loader, $extension];
            }
        }
    }

    /**
     * A builder that comes first can build for those who are behind.
     *
     * @dataProvider readers
     */
    public function testABuilderOfTheNextFormatBuildsTheOneBefore(int $loaderFormat, int $extension): void
    {
        $loader = $this->loaderWith(['first'], 1, $loaderFormat);
        $loader->push($this->build(2, ['first', 'second'], ['--format', '1']), self::programs(2));
        $this->assertReaches(fn (): bool => $this->publication(1) === 2, $loader);
        self::assertSame(['publication' => 2, 'second' => true], $this->answer($extension));
    }

    public function testALoaderRefusesWhatIsTwoFormatsBehind(): void
    {
        $loader = $this->loaderWith(['first'], 2, 3);
        $loader->push($this->build(1, ['first', 'second']), self::programs(1));
        $refused = 'has snapshot format 1, this version reads 2 and 3: damaged, or written by an older version; build it anew';
        $this->assertReaches(fn (): bool => str_contains($loader->log(), $refused), $loader);
        foreach ([2, 3] as $extension) {
            self::assertSame(['publication' => 1, 'second' => false], $this->answer($extension), 'the old one stays live');
        }
    }

    public function testNobodyReadsWhatIsTwoFormatsBehind(): void
    {
        $old = $this->build(1, ['first']);
        $inspected = Program::run([self::program(3), 'inspect', $old]);
        self::assertSame(65, $inspected->status);
        self::assertStringContainsString('has snapshot format 1, this version reads 2 and 3: damaged, or written by an older version; build it anew', $inspected->errors);
        $refused = Program::run([self::program(3), 'build', '--set', 'tags', '--format', '1', "{$this->memory->path}/keys", '-o', $old]);
        self::assertSame(64, $refused->status);
        self::assertStringContainsString('format 1 is not built by this version, which knows 2 and 3', $refused->errors);
        Program::keysieve('publish', '--directory', $this->memory->path, $old);
        self::assertSame('Incompatible true', $this->ask(3)->output);
    }

    /** A worker that has the old publication attached keeps it, and its answers. */
    public function testAWorkerThatIsBehindKeepsWhatItHas(): void
    {
        $this->publish(1, ['first']);
        $clock = new Clock();
        $worker = proc_open([...$this->interpreter(1), '-r', <<<'PHP'
            $set = new KeySieve\Set('tags');
            echo $set->info()->publication, "\n";
            fgets(STDIN);
            for ($i = 0; $i < 10_000; ++$i) {
                $second = $set->mayContain('second');
            }
            echo $set->availability()->name, ' ', $set->info()->publication, ' ', json_encode($second);
            PHP], [['pipe', 'r'], ['pipe', 'w'], ['file', "{$this->memory->path}/errors", 'w']], $pipes, null, $clock->environment() + getenv());
        self::assertSame("1\n", fgets($pipes[1]));
        $this->publish(2, ['first', 'second']);
        $clock->advance(3_600); // longer than the jitter of a reader, since that publication
        fwrite($pipes[0], "\n");
        self::assertSame('Ready 1 false', stream_get_contents($pipes[1]));
        proc_close($worker);
        self::assertStringContainsString('has snapshot format 2', file_get_contents("{$this->memory->path}/errors"));
    }

    /** Loader and store go back by one version: what is live stays, until a build of the old format comes. */
    public function testADowngrade(): void
    {
        $loader = $this->loaderWith(['first'], 2, 2);
        $loader->restart(SIGTERM, self::programs(1));
        $this->assertReaches(fn (): bool => str_contains($loader->log(), 'this version reads 1'), $loader);
        self::assertSame(['publication' => 1, 'second' => false], $this->answer(2));
        $loader->push($this->build(2, ['first', 'second'], ['--format', '1']), self::programs(2));
        $this->assertReaches(fn (): bool => $this->publication(1) === 2, $loader);
        self::assertSame(['publication' => 2, 'second' => true], $this->answer(1));
        self::assertSame(['publication' => 2, 'second' => true], $this->answer(2));
    }

    /** `keysieve update` keeps the format of what it changes, so that nobody who could read it cannot any more. */
    public function testAnUpdateKeepsTheFormat(): void
    {
        $loader = $this->loaderWith(['first'], 1, 1);
        file_put_contents("{$this->memory->path}/new", "second\n");
        Program::output([self::program(2), 'update', 'tags', '--add', "{$this->memory->path}/new", $loader->store]);
        $this->assertReaches(fn (): bool => $this->publication(1) === 2, $loader);
        self::assertSame(['publication' => 2, 'second' => true], $this->answer(1));
    }

    private static function programs(int $format): string
    {
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
        file_put_contents("{$this->memory->path}/keys", implode("\n", $keys) . "\n");
        $snapshot = "{$this->memory->path}/tags.ks";
        Program::output([self::program($format), 'build', '--set', 'tags', ...$options, "{$this->memory->path}/keys", '-o', $snapshot]);
        return $snapshot;
    }

    /** @param string[] $keys */
    private function publish(int $format, array $keys): void
    {
        $snapshot = $this->build($format, $keys);
        Program::output([self::program($format), 'publish', '--directory', $this->memory->path, $snapshot]);
    }

    /**
     * A running loader that has published what a builder has pushed.
     *
     * @param string[] $keys
     */
    private function loaderWith(array $keys, int $builder, int $loaderFormat): Loader
    {
        $loader = new Loader(['tags'], null, $this->memory->path, self::programs($loaderFormat));
        $loader->push($this->build($builder, $keys), self::programs($builder));
        $this->assertReaches(fn (): bool => $this->publication($builder) === 1, $loader);
        return $loader;
    }

    /** That a reader of this format would attach; 0: none. */
    private function publication(int $format): int
    {
        $status = Program::output([self::program($format), 'status', '--directory', $this->memory->path, '--json']);
        return json_decode($status, true)['sets'][0]['publication'] ?? 0;
    }

    /** @return string[] */
    private function interpreter(int $extension): array
    {
        $library = $extension === 1 ? getenv('KEYSIEVE_EXTENSION') : self::programs($extension) . '/keysieve.so';
        return PhpScript::interpreter(['extension' => $library, 'keysieve.directory' => $this->memory->path]);
    }

    private function ask(int $extension): Program
    {
        return Program::run([...$this->interpreter($extension), '-r', <<<'PHP'
            $set = new KeySieve\Set('tags');
            $second = $set->mayContain('second');
            echo $set->availability()->name, ' ', json_encode($second);
            PHP]);
    }

    /** @return array{publication: int, second: bool} of a worker that is ready */
    private function answer(int $extension): array
    {
        $worker = $this->ask($extension);
        self::assertStringStartsWith('Ready ', $worker->output, $worker->errors);
        return ['publication' => $this->publication($extension), 'second' => $worker->output === 'Ready true'];
    }

    /** @param callable(): bool $condition */
    private function assertReaches(callable $condition, Loader $loader): void
    {
        self::assertSoon($condition, $loader->log(...));
    }
}
