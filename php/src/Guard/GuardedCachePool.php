<?php

declare(strict_types=1);

namespace KeySieve\Guard;

use KeySieve\Membership;
use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;

/** GuardedCache for PSR-6. */
final class GuardedCachePool implements CacheItemPoolInterface
{
    private readonly GuardedKeys $keys;

    public function __construct(private readonly CacheItemPoolInterface $pool, Membership $set, string $prefix)
    {
        $this->keys = new GuardedKeys($set, $prefix);
    }

    public function getItem($key): CacheItemInterface
    {
        return $this->keys->mayExist($key) ? $this->pool->getItem($key) : new AbsentItem($key);
    }

    /**
     * @param string[] $keys
     * @return iterable<string, CacheItemInterface>
     */
    public function getItems(array $keys = []): iterable
    {
        $candidates = $this->keys->candidates(array_values($keys));
        $found = $candidates === [] ? [] : $this->pool->getItems($candidates);
        /** @var array<CacheItemInterface> $found */
        $found = is_array($found) ? $found : iterator_to_array($found);
        $items = [];
        foreach ($keys as $key) {
            $items[$key] = $found[$key] ?? new AbsentItem($key);
        }
        return $items;
    }

    public function hasItem($key): bool
    {
        return $this->keys->mayExist($key) && $this->pool->hasItem($key);
    }

    public function save(CacheItemInterface $item): bool
    {
        return $this->pool->save($this->ofPool($item));
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        return $this->pool->saveDeferred($this->ofPool($item));
    }

    public function commit(): bool
    {
        return $this->pool->commit();
    }

    public function deleteItem($key): bool
    {
        return $this->pool->deleteItem($key);
    }

    public function deleteItems(array $keys): bool
    {
        return $this->pool->deleteItems($keys);
    }

    public function clear(): bool
    {
        return $this->pool->clear();
    }

    private function ofPool(CacheItemInterface $item): CacheItemInterface
    {
        return $item instanceof AbsentItem ? $item->of($this->pool) : $item;
    }
}
