<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\InvalidNameException;

/** What callers pass: names of sets and keys. */
final class Arguments
{
    /**
     * @param string $demand begins the message
     * @throws InvalidNameException
     */
    public static function setName(string $name, string $demand): string
    {
        if (preg_match(AttachedSet::NAMES, $name) === 1) {
            return $name;
        }
        $shown = substr(explode("\0", $name, 2)[0], 0, 80);
        throw new InvalidNameException("$demand 1 to 64 characters a-z, 0-9, _ or -, beginning with a letter or digit, \"$shown\" given");
    }

    /** A float as PHP converts it for string|int, but a fraction is its digits, and no int. */
    public static function key(string|int|float $key): string|int
    {
        if (!is_float($key)) {
            return $key;
        }
        return $key >= -(2.0 ** 63) && $key < 2.0 ** 63 && floor($key) === $key ? (int) $key : (string) $key;
    }

    /**
     * An array itself, or what an iterator gives, under its array keys. One that comes twice must not take the place of the other: its
     * element would never be asked.
     *
     * @template TKey of array-key
     * @template TValue
     * @param iterable<TKey, TValue> $keys
     * @return array<TKey, TValue>
     * @throws \TypeError|\ValueError
     */
    public static function given(iterable $keys, string $method): array
    {
        if (is_array($keys)) {
            return $keys;
        }
        $given = [];
        foreach ($keys as $index => $key) {
            if (!is_int($index) && !is_string($index)) {
                throw new \TypeError("$method(): Argument #1 (\$keys) must have array keys of type string|int, " . get_debug_type($index) . ' given');
            }
            if (array_key_exists($index, $given)) {
                $shown = is_int(array_key_first([$index => 0])) ? $index : "\"$index\"";
                throw new \ValueError("$method(): Argument #1 (\$keys) must not give the array key $shown twice");
            }
            $given[$index] = $key;
        }
        return $given;
    }

    /**
     * The elements of an array, of which PHP converts none.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return array<TKey, string>
     * @throws \TypeError that names the first element that is no key
     */
    public static function keys(array $keys, string $method): array
    {
        $strings = [];
        foreach ($keys as $index => $key) {
            $strings[$index] = is_string($key) || is_int($key) ? (string) $key : throw self::noKey($key, $index, $method);
        }
        return $strings;
    }

    public static function noKey(mixed $element, string|int $index, string $method): \TypeError
    {
        $where = is_int($index) ? $index : "\"$index\"";
        return new \TypeError("$method(): Argument #1 (\$keys) must be an array of string|int, " . get_debug_type($element) . " given at index $where");
    }
}
