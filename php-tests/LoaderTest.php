<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Key;
use KeySieve\Set;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** The whole way of the data: key list, snapshot, LMDB, the real keysieved, shared memory, PHP. */
final class LoaderTest extends TestCase
{
    public static function kindsAndFormats(): iterable
    {
        foreach (['bloom', 'blocked_bloom', 'split_block_bloom'] as $kind) {
            yield "$kind, lines" => [$kind, [], ["no UTF-8: \xff\xfe", "\x01"]];
            yield "$kind, NUL-separated" => [$kind, ['-0'], ['', "two\nlines", "\r", "ends with CR\r"]];
        }
    }

    /** @dataProvider kindsAndFormats */
    public function testEveryKeyThatWasBuiltIsMaybeAtTheEndOfTheWay(string $kind, array $options, array $special): void
    {
        $keys = [
            ...$special,
            '初音ミク', 'Café', "Cafe\u{301}", ' ', ' spaces ', '0', '-1', '007', '9223372036854775807', '1e3',
            str_repeat('a', 1 << 20), str_repeat('猫', 349_525) . 'x',
            ...array_map(strval(...), range(-500, 5_000)),
        ];
        $name = 'way-' . strtr($kind, '_', '-') . count($options);
        $loader = new Loader([$name]);
        $loader->push(SharedMemory::build($name, $keys, ['--kind', $kind, ...$options]));
        $set = new Set($name);
        self::assertSoon(static fn (): bool => $set->info() !== null, $loader->log(...));

        self::assertSame($kind, $set->info()->kind);
        self::assertSame(1, $set->info()->generation);
        foreach ($keys as $key) {
            self::assertTrue($set->mayContain($key), substr($key, 0, 40));
            self::assertTrue($set->mayContain(new Key($key)), substr($key, 0, 40));
        }
        self::assertSame(array_fill(0, count($keys), true), $set->mayContainMany($keys));
        self::assertSame($keys, $set->candidates($keys));
        foreach (range(-500, 5_000) as $int) {
            self::assertTrue($set->mayContain($int));
        }
        $foreign = self::keys(2_000, 'foreign');
        self::assertLessThan(100, count($set->candidates($foreign))); // 1 % of them are 20
    }

    public function testProcessesReadOnWhileKeysievedRefreshesUnderThem(): void
    {
        $loader = new Loader(['under-way']);
        $always = range(1, 1_000);
        $push = static function (int $generation) use ($loader, $always): void {
            $loader->push(SharedMemory::build('under-way', [...$always, "generation $generation"]));
        };
        $push(1);
        self::assertSoon(static fn (): bool => (new Set('under-way'))->info() !== null, $loader->log(...));
        $readers = array_map(fn (): mixed => $this->startReader(), range(1, 3));
        foreach (range(2, 12) as $generation) {
            $push($generation);
        }
        foreach ($readers as [$process, $output]) {
            $answers = json_decode(stream_get_contents($output), true, flags: JSON_THROW_ON_ERROR);
            self::assertSame(0, proc_close($process));
            self::assertSame(0, $answers['absent'], 'a key of every generation was answered absent');
            self::assertSame(12, $answers['generation'], 'the same process has reached the last generation');
        }
    }

    /** Reads until generation 12 has come. @return array{resource, resource} */
    private function startReader(): array
    {
        $code = <<<'PHP'
            $set = new KeySieve\Set('under-way');
            $keys = range(1, 1_000);
            $absent = 0;
            $end = microtime(true) + 300;
            do {
                $absent += count($keys) - count($set->candidates($keys));
            } while ($set->info()?->generation !== 12 && microtime(true) < $end);
            echo json_encode(['absent' => $absent, 'generation' => $set->info()->generation]);
            PHP;
        $process = proc_open(
            [...PhpScript::interpreter(), '-r', $code],
            [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR],
            $pipes,
        );
        return [$process, $pipes[1]];
    }
}
