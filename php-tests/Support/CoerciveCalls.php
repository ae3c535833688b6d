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

    public static function function(string $set, mixed $key): bool
    {
        return \KeySieve\may_contain($set, $key);
    }
}
