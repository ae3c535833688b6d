<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Reader\Failure;
use KeySieve\Reader\File;
use KeySieve\Reader\Snapshot;
use KeySieve\Set;
use KeySieve\Tests\Differential\SnapshotBytes;
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

    /** With two levels. The package keeps only single shards of it. */
    public function testAnswersLikeTheExtensionInASetOfSomeMegabytes(): void
    {
        $absent = SharedMemory::list('absent', self::keys(100_000, 'absent'));
        $file = SharedMemory::build('large', range(1, 2_000_000), ['--kind', 'ribbon', '--fpr', '0.0001', '--shard-size', '1KiB', '--known-absent', $absent]);
        SharedMemory::publish($file);
        self::assertGreaterThan(2 << 20, filesize($file));
        $keys = [...range(1_990_000, 2_010_000), ...self::keys(2_000, 'absent')];
        self::assertSame((new Set('large'))->mayContainMany($keys), self::answers(new Snapshot('large', self::open($file)), $keys));

        $whole = file_get_contents($file);
        $whole[-1] = $whole[-1] ^ "\x10"; // of the last shard, whose neighbours have the same checksum
        $damaged = new Snapshot('large', self::file($whole));
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

    public function testAWrongByteIsRefusedWhereverItIs(): void
    {
        $absent = SharedMemory::list('absent', self::keys(300, 'absent'));
        foreach (SharedMemory::kinds() as $kind) {
            $options = ['--kind', $kind, '--shard-size', '1KiB', '--known-absent', $absent];
            self::assertEachWrongByteIsRefused($kind, SharedMemory::build('damaged', self::keys(300), $options), self::answers(...));
        }
        $map = SharedMemory::buildMap('damaged', self::smallValues(), ['--shard-size', '1KiB']);
        self::assertEachWrongByteIsRefused('a map', $map, self::values(...));
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
