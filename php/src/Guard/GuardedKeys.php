<?php

declare(strict_types=1);

namespace KeySieve\Guard;

use KeySieve\Membership;

/** The keys of a cache that a set knows: those with a prefix. What follows the prefix is the key in the set. */
final class GuardedKeys
{
    public function __construct(
        private readonly Membership $set,
        private readonly string $prefix,
    ) {
    }

    /** True for keys that are not guarded. */
    public function mayExist(mixed $key): bool
    {
        return !$this->isGuarded($key) || $this->set->mayContain(substr($key, strlen($this->prefix)));
    }

    /**
     * Those that may exist. Asks the set once.
     *
     * @template T
     * @param list<T> $keys
     * @return list<T>
     */
    public function candidates(array $keys): array
    {
        $asked = [];
        foreach ($keys as $index => $key) {
            if ($this->isGuarded($key)) {
                $asked[$index] = substr($key, strlen($this->prefix));
            }
        }
        return array_values(array_diff_key($keys, array_diff_key($asked, $this->set->candidates($asked))));
    }

    /** @phpstan-assert-if-true string $key */
    private function isGuarded(mixed $key): bool
    {
        return is_string($key) && str_starts_with($key, $this->prefix);
    }
}
