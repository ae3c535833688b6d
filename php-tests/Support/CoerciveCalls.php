<?php

// Not strict_types, which hold for the calls that a file makes.

namespace KeySieve\Tests\Support;

use KeySieve\Set;

/** Calls from code that leaves the types of its arguments to PHP. */
final class CoerciveCalls
{
    public static function mayContain(string $set, mixed $key): bool
    {
        return (new Set($set))->mayContain($key);
    }

    public static function to(callable $call, mixed ...$arguments): mixed
    {
        return $call(...$arguments);
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
