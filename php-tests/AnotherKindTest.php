<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Set;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/**
 * A set moves from kind to kind while keysieved runs and PHP asks, as docs/build_sets.md says: no key is absent at any
 * moment, neither one of the list nor one that was added since.
 */
final class AnotherKindTest extends TestCase
{
    private string $name;
    private Loader $loader;
    private Set $set;
    private int $generation = 0;
    /** @var string[] */
    private array $keys;

    public function testNoKeyIsAbsentWhileASetMovesThroughAllKinds(): void
    {
        $this->start('moved-on');
        foreach ([...SharedMemory::kinds(), 'split_block_bloom'] as $kind) {
            $this->add("added before $kind");
            $this->push(['--kind', $kind]);
            // The nightly build, which names no kind, keeps it.
            $this->push([]);
            self::assertSame($kind, $this->set->info()->kind);
            self::assertLessThan(0.05, $this->shareOfWrongMaybes(), $kind);
        }
    }

    public function testTheWayBackIsARollback(): void
    {
        $this->start('moved-back');
        $this->push(['--kind', 'ribbon']);
        $this->add('added to ribbon');
        Program::keysieve('rollback', '--yes', $this->name, $this->loader->store);
        $this->askUntil(fn (): bool => $this->set->info()->kind === 'split_block_bloom');
    }

    private function start(string $name): void
    {
        $this->name = $name;
        $this->keys = array_map(strval(...), range(1, 2_000));
        $this->loader = new Loader([$this->name]);
        $this->set = new Set($this->name);
        $this->push(['--kind', 'split_block_bloom']);
        $this->add('added first');
    }

    private function add(string $key): void
    {
        $this->loader->add($this->name, $key);
        $this->askUntil(fn (): bool => $this->set->mayContain($key));
        $this->keys[] = $key;
    }

    /**
     * Builds, pushes, and asks until the new generation is attached.
     *
     * @param string[] $options
     */
    private function push(array $options): void
    {
        ++$this->generation;
        $this->loader->push(SharedMemory::build($this->name, range(1, 2_000), ['--like', $this->loader->store, ...$options]));
        $this->askUntil(fn (): bool => $this->set->info()?->generation === $this->generation);
    }

    private function askUntil(callable $isReached): void
    {
        self::assertSoon(function () use ($isReached): bool {
            self::assertSame($this->keys, $this->set->candidates($this->keys));
            return $isReached();
        }, $this->loader->log(...));
    }

    private function shareOfWrongMaybes(): float
    {
        $foreign = self::keys(5_000, 'foreign');
        return count($this->set->candidates($foreign)) / count($foreign);
    }
}
