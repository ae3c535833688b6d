<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Reader\Failure;
use KeySieve\Reader\File;
use KeySieve\Reader\Snapshot;
use KeySieve\Set;
use KeySieve\Tests\Differential\SnapshotBytes;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** The snapshot reader of the package, compared with the extension in one process, and with bytes that are wrong. */
final class ReaderTest extends TestCase
{
    /** @return iterable<string, array{array<string, int>, string}> fields, and the fault */
    public static function forgedMaps(): iterable
    {
        yield 'too many bits' => [['value_bits' => 33], 'values of 33 bits are out of range'];
        yield 'no values' => [['value_bits' => 0], 'has a sample of more values than there can be'];
        yield 'more bits than columns' => [['value_bits' => 32], 'it has no room for its values'];
        yield 'a kind without values' => [['kind' => 4], 'k = 64 is out of range'];
        yield 'too many samples' => [['sampled_count' => 65], 'has a sample of more values than there can be'];
    }

    /**
     * All checksums are right. The publisher refuses what the package refuses, for the same reason.
     *
     * @param array<string, int> $fields
     */
    #[DataProvider('forgedMaps')]
    public function testAMapThatCannotBeIsRefused(array $fields, string $fault): void
    {
        $file = SharedMemory::buildMap('forged', self::smallValues(), ['--shard-size', '1KiB']);
        SharedMemory::forge($file, ...$fields);
        $ask = static fn () => self::values(new Snapshot('forged', self::open($file)), self::keys(300));
        self::assertThrows(Failure::class, $fault, $ask);
        self::assertThrows(\RuntimeException::class, $fault, static fn () => SharedMemory::publish($file));
    }

    /** @return iterable<string, array{string, string[]}> a set, and options of `keysieve build` */
    public static function largeSets(): iterable
    {
        yield 'one level' => ['large', ['--kind', 'split_block_bloom', '--fpr', '0.01']];
        yield 'known-absent keys, small shards' => ['large-two-levels', ['--kind', 'ribbon', '--fpr', '0.0001', '--shard-size', '1KiB', '--known-absent']];
    }

    /**
     * The package keeps only single shards of it.
     *
     * @param string[] $options
     */
    #[DataProvider('largeSets')]
    public function testAnswersLikeTheExtensionInASetOfSomeMegabytes(string $name, array $options): void
    {
        if (end($options) === '--known-absent') {
            $options[] = SharedMemory::directory() . '/reader.absent';
            file_put_contents(end($options), implode("\n", self::keys(100_000, 'absent')) . "\n");
        }
        SharedMemory::put($name, range(1, 2_000_000), $options);
        $file = SharedMemory::directory() . "/$name.ks";
        self::assertGreaterThan(2 << 20, filesize($file));
        $keys = [...range(1_990_000, 2_010_000), ...self::keys(2_000, 'absent')];
        self::assertSame((new Set($name))->mayContainMany($keys), self::answers(new Snapshot($name, self::open($file)), $keys));

        $whole = file_get_contents($file);
        $whole[-1] = $whole[-1] ^ "\x10"; // of the last shard, whose neighbours have the same checksum
        $damaged = new Snapshot($name, self::file($whole));
        $refused = 0;
        foreach (range(1, 20_000) as $key) {
            try {
                self::assertSame([true], self::answers($damaged, [$key]));
            } catch (Failure) {
                ++$refused;
            }
        }
        self::assertGreaterThan(0, $refused);
    }

    public function testAnswersLikeTheExtensionInGoldenSnapshots(): void
    {
        $endless = SharedMemory::directory() . '/endless.ks';
        $files = glob(dirname(__DIR__) . '/tests/golden/*.ks');
        self::assertNotSame([], $files);
        foreach ($files as $file) {
            copy($file, $endless);
            SharedMemory::forge($endless, valid_for: 0);
            $name = (new SnapshotBytes(file_get_contents($endless)))->text('set_name');
            $snapshot = new Snapshot($name, self::open($endless));
            SharedMemory::publish($endless);
            $set = new Set($name);
            self::assertSoon(static fn (): bool => $set->info()->kind === $snapshot->kind::NAME && $set->info()->keyCount === $snapshot->fields['keyCount']);
            $keys = [...range(1, 5_000), ...self::keys(5_000)];
            self::assertSame($set->mayContainMany($keys), self::answers($snapshot, $keys), basename($file));
        }
    }

    public function testAWrongByteIsRefusedWhereverItIs(): void
    {
        $absent = SharedMemory::directory() . '/reader.absent';
        file_put_contents($absent, implode("\n", self::keys(300, 'absent')) . "\n");
        foreach (SharedMemory::kinds() as $kind) {
            $options = ['--kind', $kind, '--shard-size', '1KiB', '--known-absent', $absent];
            self::assertEachWrongByteIsRefused($kind, SharedMemory::build('damaged', self::keys(300), $options), self::answers(...));
        }
        $map = SharedMemory::buildMap('damaged', self::smallValues(), ['--shard-size', '1KiB']);
        self::assertEachWrongByteIsRefused('a map', $map, self::values(...));
    }

    public function testASnapshotOfAnotherLengthIsRefused(): void
    {
        $whole = file_get_contents(SharedMemory::build('lengths', self::keys(300)));
        foreach (['' => 'is not a whole snapshot', substr($whole, 0, -1) => 'is cut short', "$whole-" => 'is too long'] as $bytes => $reason) {
            self::assertThrows(Failure::class, $reason, static fn () => new Snapshot('lengths', self::file((string) $bytes)));
        }
        self::assertThrows(Failure::class, 'holds set "lengths", not "other"', static fn () => new Snapshot('other', self::file($whole)));
    }

    /** Its signature is for loaders. */
    public function testASignedSnapshotAnswersAsAnyOther(): void
    {
        $key = SharedMemory::directory() . '/signing.key';
        Program::keysieve('keygen', $key);
        $snapshot = new Snapshot('signed', self::open(SharedMemory::build('signed', self::keys(60_000), ['--shard-size', '1KiB', '--sign-key', $key])));
        self::assertNotContains(false, self::answers($snapshot, self::keys(60_000)));
        self::assertSame([false], self::answers($snapshot, ['absent']));
    }

    /** Tables whose checksums are right but which no builder makes: each must be refused before it misleads a lookup. */
    public function testATableThatCannotBeIsRefused(): void
    {
        foreach (SharedMemory::kinds() as $kind) {
            $whole = file_get_contents(SharedMemory::build('tables', self::keys(300), ['--kind', $kind, '--shard-size', '1KiB']));
            $shapes = [0xffff];
            foreach ($kind === 'ribbon' ? [[0, 16, 16], [31, 10, 16], [16, 31, 16], [16, 16, 31]] : [] as [$first, $second, $third]) {
                $shapes[] = $first | $second << 5 | $third << 10; // one quarter of a line ends before it begins
            }
            foreach ([['width' => 0xff], ['block_count' => 0xffff], ...array_map(static fn (int $shape): array => ['shape' => $shape], $shapes)] as $entry) {
                $snapshot = new SnapshotBytes($whole);
                $snapshot->putEntry(0, $entry);
                $ask = static fn () => self::answers(new Snapshot('tables', self::file($snapshot->seal()->bytes)), self::keys(300));
                self::assertThrows(Failure::class, 'entry of shard 0 cannot be: ', $ask);
            }
        }
    }

    /** Tries most bytes of the header and the tables, and some of the shards. */
    private static function assertEachWrongByteIsRefused(string $what, string $path, callable $ask): void
    {
        $whole = file_get_contents($path);
        for ($at = 0; $at < strlen($whole); $at += $at < 400 || ($at > 940 && $at < 990) || ($at > 4_096 && $at < 4_300) ? 1 : 37) {
            $bytes = $whole;
            $bytes[$at] = $bytes[$at] ^ "\x10";
            try {
                $ask(new Snapshot('damaged', self::file($bytes)), self::keys(300));
                self::fail("accepted a wrong byte of $what at $at");
            } catch (Failure $failure) {
                self::assertStringContainsString('/bytes-', $failure->getMessage());
            }
        }
    }

    /**
     * @param array<string|int> $keys
     * @return bool[]
     */
    private static function answers(Snapshot $snapshot, array $keys): array
    {
        return array_map(static fn (string|int $key): bool => $snapshot->find($snapshot->hash((string) $key)) !== null, $keys);
    }

    /**
     * @param array<string|int> $keys
     * @return array<?int>
     */
    private static function values(Snapshot $map, array $keys): array
    {
        return array_map(static fn (string|int $key): ?int => $map->find($map->hash((string) $key)), $keys);
    }

    /** @return array<string, int> of 300 keys, in 3 bits */
    private static function smallValues(): array
    {
        return array_map(static fn (int $number): int => $number % 8, array_flip(self::keys(300)));
    }

    private static function open(string $path): File
    {
        return File::open($path, File::statusOf($path));
    }

    /** In a file that ends with it. */
    private static function file(string $bytes): File
    {
        $path = tempnam(SharedMemory::directory(), 'bytes-');
        file_put_contents($path, $bytes);
        $file = self::open($path);
        unlink($path);
        return $file;
    }
}
