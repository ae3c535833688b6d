<?php

// Not strict_types, which hold for the calls that a file makes.

namespace KeySieve\Tests\Support;

use KeySieve\SeenSet;
use KeySieve\Set;

/** Calls from code that leaves the types of its arguments to PHP. */
final class CoerciveCalls
{
    public static function mayContain(string $set, mixed $key): bool
    {
        return (new Set($set))->mayContain($key);
    }

    public static function function(string $set, mixed $key): bool
    {
        return \KeySieve\may_contain($set, $key);
    }

    /**
     * @param array<mixed> $keys
     * @return array<bool>
     */
    public static function mayContainMany(string $set, array $keys): array
    {
        return (new Set($set))->mayContainMany($keys);
    }

    /**
     * @param array<mixed> $keys
     * @return array<mixed>
     */
    public static function candidates(string $set, array $keys): array
    {
        return (new Set($set))->candidates($keys);
    }

    public static function addIfNew(string $set, mixed $key): bool
    {
        return (new SeenSet($set))->addIfNew($key);
    }

    /**
     * @param array<mixed> $keys
     * @return array<bool>
     */
    public static function addManyIfNew(string $set, array $keys): array
    {
        return (new SeenSet($set))->addManyIfNew($keys);
    }

    /** For null, which is deprecated: PHP calls the handler in the middle of the call. */
    public static function mayContainNull(string $set, callable $handler): bool
    {
        set_error_handler($handler);
        try {
            return self::mayContain($set, null);
        } finally {
            restore_error_handler();
        }
    }
}
