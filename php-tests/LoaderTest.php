<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Key;
use KeySieve\Set;
use KeySieve\Tests\Support\AskedSets;
use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;

/** The whole way of the data: key list, snapshot, LMDB, the real keysieved, shared memory, PHP. */
final class LoaderTest extends AskedSets
{
    private const GENERATIONS = 12;

    /** @return iterable<string, array{string, string[], string[]}> */
    public static function formats(): iterable
    {
        yield 'lines' => ['lines', [], ["no UTF-8: \xff\xfe", "\x01"]];
        yield 'NUL-separated' => ['nul', ['-0'], ['', "two\nlines", "\r", "ends with CR\r"]];
    }

    /**
     * @dataProvider formats
     * @param string[] $options of `keysieve build`
     * @param string[] $special keys that only this format can hold
     */
    public function testEveryKeyThatWasBuiltIsMaybe(string $name, array $options, array $special): void
    {
        $keys = [
            ...$special,
            '初音ミク', 'Café', "Cafe\u{301}", ' ', ' spaces ', '0', '-1', '007', '9223372036854775807', '1e3',
            str_repeat('a', 1 << 20), str_repeat('猫', 349_525) . 'x',
            ...array_map(strval(...), range(-500, 5_000)),
        ];
        $loader = new Loader([$name]);
        $loader->push(SharedMemory::build($name, $keys, $options));
        $set = new Set($name);
        self::assertSoon(static fn (): bool => $set->info() !== null, $loader->log(...));

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
        self::assertLessThan(0.05, self::shareOfWrongMaybes($set));
    }

    /** As docs/another_kind.md says. */
    public function testNoKeyIsAbsentWhileASetMovesThroughAllKinds(): void
    {
        $this->start('moved-on');
        $set = new Set('moved-on');
        foreach ([...SharedMemory::kinds(), 'split_block_bloom'] as $kind) {
            $this->add('moved-on', "added before $kind");
            $this->renew('moved-on', '--kind', $kind);
            $this->renew('moved-on'); // the nightly build, which names no kind, keeps it
            self::assertSame($kind, $set->info()->kind);
            self::assertLessThan(0.05, self::shareOfWrongMaybes($set), $kind);
        }
    }

    public function testARollbackBringsTheKindBeforeBack(): void
    {
        $this->start('moved-back');
        $this->add('moved-back', 'added first');
        $this->renew('moved-back', '--kind', 'ribbon');
        $this->add('moved-back', 'added to ribbon');
        Program::keysieve('rollback', '--yes', 'moved-back', $this->loader->store);
        $this->askUntil(static fn (): bool => (new Set('moved-back'))->info()->kind === 'split_block_bloom');
    }

    public function testProcessesReadOnWhileKeysievedRefreshesUnderThem(): void
    {
        $this->start('under-way');
        $readers = array_map(static fn (): Background => self::startReader(), range(1, 3));
        for ($generation = 2; $generation <= self::GENERATIONS; ++$generation) {
            $this->loader->push(SharedMemory::build('under-way', [...range(1, 1_000), "generation $generation"]));
        }
        foreach ($readers as $reader) {
            self::assertSame(0, $reader->status(), $reader->output());
            self::assertSame('0 absent in generation ' . self::GENERATIONS, $reader->output());
        }
    }

    /** Reads until the last generation has come. */
    private static function startReader(): Background
    {
        $code = <<<'PHP'
            $set = new KeySieve\Set('under-way');
            $keys = range(1, 1_000);
            $absent = 0;
            $end = microtime(true) + 300;
            do {
                $absent += count($keys) - count($set->candidates($keys));
            } while ($set->info()?->generation !== (int) $argv[1] && microtime(true) < $end);
            echo "$absent absent in generation {$set->info()->generation}";
            PHP;
        return new Background(new Folder('reader'), [...PhpScript::interpreter(), '-r', $code, (string) self::GENERATIONS]);
    }

    private static function shareOfWrongMaybes(Set $set): float
    {
        $foreign = self::keys(5_000, 'foreign');
        return count($set->candidates($foreign)) / count($foreign);
    }
}
