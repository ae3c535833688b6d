<?php

declare(strict_types=1);

namespace KeySieve\Guard;

use KeySieve\Membership;

/**
 * A repository that is asked only for keys that may exist.
 *
 *     $byId = fn (array $ids): array => array_column($db->products($ids), null, 'id');
 *     $products = new GuardedFinder(new Set('products'), $byId);
 *     $product = $products->find(42);    // null without a query, if 42 is absent
 *
 * A row that was inserted after the build is absent too, until its key is added (KeySieve\Adds\Adds).
 *
 * @template TKey of array-key
 * @template T
 */
final class GuardedFinder
{
    /** @param \Closure(list<TKey>): array<TKey, T> $find gives what it finds, by key; never called without a key */
    public function __construct(
        private readonly Membership $set,
        private readonly \Closure $find,
    ) {
    }

    /**
     * @param TKey $key
     * @return ?T
     */
    public function find(int|string $key): mixed
    {
        return $this->findMany([$key])[$key] ?? null;
    }

    /**
     * @param iterable<TKey> $keys
     * @return array<TKey, T> by key
     */
    public function findMany(iterable $keys): array
    {
        $keys = is_array($keys) ? $keys : iterator_to_array($keys, false);
        $candidates = array_values($this->set->candidates($keys));
        return $candidates === [] ? [] : ($this->find)($candidates);
    }
}
