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
 * upgraded in another order than docs/operate.md says. What is built is of format 1; tests/upgrade links programs of the
 * next two.
 */
#[Group('upgrade')]
final class UpgradeTest extends TestCase
{
    private const TOO_OLD = 'has snapshot format 1, this version reads 2 and 3: damaged, or written by an older version; build it again';
    private const TOO_NEW = 'has snapshot format 2, this version reads 1: damaged, or written by a newer version';
    private const OLD_ONE_IS_LIVE = ['publication' => 1, 'second' => false];
    private const NEW_ONE_IS_LIVE = ['publication' => 2, 'second' => true];

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

    protected function tearDown(): void
    {
        unset($this->directory);
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
            self::assertSame(self::OLD_ONE_IS_LIVE, $this->answer($extension));
            return;
        }
        $this->awaitPublication(2, $built, $loader);
        if ($built > $extension) {
            $worker = $this->ask($extension);
            self::assertSame('Incompatible true', $worker->output, 'every lookup answers maybe');
            self::assertStringContainsString('is incompatible', $worker->errors);
            self::assertStringContainsString('upgrade this reader, or build with --format 1', $worker->errors);
            return;
        }
        self::assertSame(self::NEW_ONE_IS_LIVE, $this->answer($extension));
    }

    public function testALoaderRefusesWhatIsTwoFormatsBehind(): void
    {
        $loader = $this->loaderWith(['first'], 2, 3);
        $loader->push($this->build(1, ['first', 'second']), self::programs(1));
        self::assertSoon(static fn (): bool => str_contains($loader->log(), self::TOO_OLD), $loader->log(...));
        foreach ([2, 3] as $extension) {
            self::assertSame(self::OLD_ONE_IS_LIVE, $this->answer($extension));
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
        self::assertSame('Incompatible true', $this->ask(3)->output);
    }

    /** Loader and store go back by one version: what is live stays, until a build of the old format comes. */
    public function testADowngradeKeepsWhatIsLive(): void
    {
        $loader = $this->loaderWith(['first'], 2, 2);
        $loader->restart(SIGTERM, self::programs(1));
        self::assertSoon(static fn (): bool => str_contains($loader->log(), 'this version reads 1'), $loader->log(...));
        self::assertSame(self::OLD_ONE_IS_LIVE, $this->answer(2));
        $loader->push($this->build(2, ['first', 'second'], ['--format', '1']), self::programs(2));
        $this->awaitPublication(2, 1, $loader);
        self::assertSame(self::NEW_ONE_IS_LIVE, $this->answer(1));
        self::assertSame(self::NEW_ONE_IS_LIVE, $this->answer(2));
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
        $this->awaitPublication(1, $builder, $loader);
        return $loader;
    }

    private function awaitPublication(int $publication, int $format, Loader $loader): void
    {
        self::assertSoon(fn (): bool => $this->publication($format) === $publication, $loader->log(...));
    }

    /** What a reader of this format would attach; 0: nothing. */
    private function publication(int $format): int
    {
        // Ends with 1 while a set has trouble.
        $status = Program::run([self::program($format), 'status', '--directory', (string) $this->directory, '--json'])->output;
        return json_decode($status, true)['sets'][0]['publication'] ?? 0;
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
}
