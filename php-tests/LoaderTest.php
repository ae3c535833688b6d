<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Set;
use KeySieve\Tests\Support\AskedSets;
use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;

/** The whole way of the data: key list, snapshot, LMDB, the real keysieved, shared memory, PHP. */
final class LoaderTest extends AskedSets
{
    private const GENERATIONS = 12;

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

    public function testARollbackBringsBackTheOldKind(): void
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
