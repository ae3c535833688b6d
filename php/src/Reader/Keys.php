<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Key;

/** The elements of an array of keys. */
final class Keys
{
    /**
     * The extension also converts what PHP converts for arguments, unless the caller's file has strict_types. PHP code cannot see
     * that, so it is strict.
     *
     * @param array<mixed> $keys
     * @return array<string>
     * @throws \TypeError that names the first element that is no key
     */
    public static function strings(array $keys, string $method): array
    {
        $strings = [];
        foreach ($keys as $index => $key) {
            $strings[$index] = match (true) {
                is_string($key) => $key,
                is_int($key) => (string) $key,
                $key instanceof Key => $key->bytes,
                default => throw new \TypeError("$method(): Argument #1 (\$keys) must be an array of " . Key::class . '|string|int, '
                    . get_debug_type($key) . ' given at index ' . (is_int($index) ? $index : "\"$index\"")),
            };
        }
        return $strings;
    }
}
