<?php

declare(strict_types=1);

namespace KeySieve\Validation;

/** A password as the public lists of breached passwords have it: its SHA-1 in upper-case hexadecimal digits. */
final class PasswordKey
{
    /** Names these rules: `keysieve build --key-profile sha1-upper-v1`. */
    public const PROFILE = 'sha1-upper-v1';

    public static function of(#[\SensitiveParameter] string $password): string
    {
        return strtoupper(sha1($password));
    }
}
