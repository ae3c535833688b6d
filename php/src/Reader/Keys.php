<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** What callers pass as keys. One that is passed by itself is converted as the extension does it, an element of an array never. */
final class Keys
{
    private const TYPES = 'string|int';
    private const STRICT_TYPES = '~\A(?:#![^\n]*\n)?<\?php(?>\s+|/\*.*?\*/|(?://|#)[^\n]*\n)+declare\s*\([^)]*\bstrict_types\s*=\s*1\b~is';

    /** @var array<string, bool> by file */
    private static array $haveStrictTypes = [];

    /**
     * @param string $argument for the message
     * @throws \TypeError
     */
    public static function string(mixed $key, string $argument): string
    {
        $converted = self::converted($key);
        if ($converted !== null) {
            return $converted;
        }
        $given = is_bool($key) && PHP_VERSION_ID >= 80300 ? var_export($key, true) : get_debug_type($key); // as PHP's own errors call it
        throw new \TypeError("$argument must be of type " . self::TYPES . ", $given given");
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
     * The elements of an array.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return array<TKey, string>
     * @throws \TypeError that names the first element that is no key
     */
    public static function strings(array $keys, string $method): array
    {
        $strings = [];
        foreach ($keys as $index => $key) {
            $strings[$index] = is_string($key) || is_int($key) ? (string) $key
                : throw new \TypeError("$method(): Argument #1 (\$keys) must be an array of " . self::TYPES . ', '
                    . get_debug_type($key) . ' given at index ' . (is_int($index) ? $index : "\"$index\""));
        }
        return $strings;
    }

    /** Null for what cannot be a key. Unless the caller has strict types, PHP's rules for string|int hold. */
    private static function converted(mixed $key): ?string
    {
        return match (true) {
            is_string($key) => $key,
            is_int($key) => (string) $key,
            self::callerHasStrictTypes(behind: 3) => null,
            is_bool($key) => $key ? '1' : '0',
            is_float($key) => (string) (self::isInt($key) ? (int) $key : $key),
            $key instanceof \Stringable => (string) $key,
            default => null,
        };
    }

    /**
     * PHP applies strict_types to the calls in a file that declares it. Only its source tells.
     *
     * @param int $behind this many calls lie between the caller and this one
     */
    private static function callerHasStrictTypes(int $behind): bool
    {
        $file = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, $behind + 1)[$behind]['file'] ?? null; // none: PHP itself calls
        if ($file === null) {
            return false;
        }
        try {
            return self::$haveStrictTypes[$file] ??= preg_match(self::STRICT_TYPES, (string) File::contents($file)) === 1;
        } catch (Failure) {
            return self::$haveStrictTypes[$file] = false;
        }
    }

    private static function isInt(float $number): bool
    {
        return $number >= -(2.0 ** 63) && $number < 2.0 ** 63 && floor($number) === $number;
    }
}
