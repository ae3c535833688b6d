<?php

declare(strict_types=1);

namespace KeySieve\Guard;

use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;

/** The item of a key that does not exist. The pool knows nothing of it until it is saved. */
final class AbsentItem implements CacheItemInterface
{
    private mixed $value = null;
    /** @var null|\Closure(CacheItemInterface): CacheItemInterface */
    private ?\Closure $expire = null;

    public function __construct(private readonly string $key)
    {
    }

    public function getKey(): string
    {
        return $this->key;
    }

    public function get(): mixed
    {
        return $this->value;
    }

    public function isHit(): bool
    {
        return false;
    }

    public function set($value): static
    {
        $this->value = $value;
        return $this;
    }

    public function expiresAt($expiration): static
    {
        $this->expire = static fn (CacheItemInterface $item): CacheItemInterface => $item->expiresAt($expiration);
        return $this;
    }

    public function expiresAfter($time): static
    {
        $this->expire = static fn (CacheItemInterface $item): CacheItemInterface => $item->expiresAfter($time);
        return $this;
    }

    /** The same item, as one that the pool can save. */
    public function of(CacheItemPoolInterface $pool): CacheItemInterface
    {
        $item = $pool->getItem($this->key)->set($this->value);
        return $this->expire === null ? $item : ($this->expire)($item);
    }
}
