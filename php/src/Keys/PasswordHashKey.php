<?php

declare(strict_types=1);

namespace KeySieve\Keys;

/** The key that PasswordKey makes of a password, from a list that has SHA-1s instead: in upper or lower case, also as SHA1:COUNT. */
final class PasswordHashKey implements KeyFunction
{
    public static function profile(): string
    {
        return 'sha1-upper-v1';
    }

    public static function of(string $raw): ?string
    {
        return preg_match('/\A([0-9a-f]{40})(?::[0-9]+)?\z/i', trim($raw), $match) === 1 ? strtoupper($match[1]) : null;
    }
}
