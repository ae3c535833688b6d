<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

use KeySieve\Set;

use function KeySieve\candidate_sets;

/**
 * Sets of the same numbers that a real keysieved publishes, and that are asked all the while: no key of theirs is absent
 * at any moment, neither one of the list nor one that was added since.
 */
abstract class AskedSets extends TestCase
{
    private const NUMBERS = 1_000;

    protected Loader $loader;
    protected int $lookups = 0;
    /** @var array<string, string[]> by set */
    private array $keys = [];

    protected function start(string ...$names): void
    {
        $this->loader = new Loader($names);
        foreach ($names as $name) {
            $this->renew($name);
            $this->keys[$name] = array_map(strval(...), range(1, self::NUMBERS));
        }
    }

    /** Adds a key and asks until it is maybe. */
    protected function add(string $set, string $key): void
    {
        $this->loader->add($set, $key);
        $this->askUntil(static fn (): bool => (new Set($set))->mayContain($key));
        $this->keys[$set][] = $key;
    }

    /** Builds the list again, pushes it, and asks until its generation is attached. */
    protected function renew(string $set, string ...$options): void
    {
        $generation = 1 + ((new Set($set))->info()?->generation ?? 0);
        $like = ['--like', $this->loader->store, ...$options];
        $this->loader->push(SharedMemory::build($set, range(1, self::NUMBERS), $like));
        $this->askUntil(static fn (): bool => (new Set($set))->info()?->generation === $generation);
    }

    protected function askUntil(callable $isReached): void
    {
        self::assertSoon(function () use ($isReached): bool {
            $this->ask();
            return $isReached();
        }, $this->loader->log(...));
    }

    private function ask(): void
    {
        foreach ($this->keys as $set => $keys) {
            self::assertSame($keys, (new Set($set))->candidates($keys));
            $this->lookups += count($keys);
        }
        $sets = array_keys($this->keys);
        $ofAll = $sets === [] ? [] : array_intersect(...array_values($this->keys));
        foreach ([...array_slice($ofAll, 0, 1), ...array_slice($ofAll, -1)] as $key) {
            self::assertSame($sets, candidate_sets($key, $sets));
        }
    }
}
