<?php

declare(strict_types=1);

namespace KeySieve\Keys;

/** A whole number, such as an id: 42 for "42", "042", "+42" and " 42 ", by which SQL finds the same row. */
final class IntegerKey implements KeyFunction
{
    public static function profile(): string
    {
        return 'integer-v1';
    }

    public static function of(string $raw): ?string
    {
        if (preg_match('/\A([+-]?)0*(0|[1-9][0-9]{0,19})\z/', trim($raw), $match) !== 1) {
            return null;
        }
        return $match[1] === '-' && $match[2] !== '0' ? "-$match[2]" : $match[2];
    }
}
