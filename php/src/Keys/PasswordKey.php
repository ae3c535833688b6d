<?php

declare(strict_types=1);

namespace KeySieve\Keys;

/** A password as the public lists of breached passwords have it: its SHA-1 in upper-case hexadecimal digits. Spaces belong to it. */
final class PasswordKey implements KeyFunction
{
    public static function profile(): string
    {
        return PasswordHashKey::profile();
    }

    public static function of(#[\SensitiveParameter] string $raw): string
    {
        return strtoupper(sha1($raw));
    }
}
