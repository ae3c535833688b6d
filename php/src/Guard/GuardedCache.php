<?php

declare(strict_types=1);

namespace KeySieve\Guard;

use KeySieve\Membership;
use Psr\SimpleCache\CacheInterface;

/**
 * A PSR-16 cache that is asked only for keys that may exist. The others are misses.
 *
 *     $cache = new GuardedCache($redis, new Set('products'), 'product.');    // product.42: key 42 of the set
 *
 * Keys without the prefix, and everything that writes, go to the cache as they are.
 */
final class GuardedCache implements CacheInterface
{
    private readonly GuardedKeys $keys;

    public function __construct(private readonly CacheInterface $cache, Membership $set, string $prefix)
    {
        $this->keys = new GuardedKeys($set, $prefix);
    }

    public function get($key, $default = null): mixed
    {
        return $this->keys->mayExist($key) ? $this->cache->get($key, $default) : $default;
    }

    public function getMultiple($keys, $default = null): iterable
    {
        $keys = is_array($keys) ? array_values($keys) : iterator_to_array($keys, false);
        $candidates = $this->keys->candidates($keys);
        $found = $candidates === [] ? [] : $this->cache->getMultiple($candidates, $default);
        return array_replace(array_fill_keys($keys, $default), is_array($found) ? $found : iterator_to_array($found));
    }

    public function has($key): bool
    {
        return $this->keys->mayExist($key) && $this->cache->has($key);
    }

    public function set($key, $value, $ttl = null): bool
    {
        return $this->cache->set($key, $value, $ttl);
    }

    /**
     * @param iterable<mixed> $values
     * @param null|int|\DateInterval $ttl
     */
    public function setMultiple($values, $ttl = null): bool
    {
        return $this->cache->setMultiple($values, $ttl);
    }

    public function delete($key): bool
    {
        return $this->cache->delete($key);
    }

    public function deleteMultiple($keys): bool
    {
        return $this->cache->deleteMultiple($keys);
    }

    public function clear(): bool
    {
        return $this->cache->clear();
    }
}
