<?php

declare(strict_types=1);

namespace App;

use KeySieve\Keys\KeyFunction;
use Normalizer;

/** Defines which names are the same. Stricter than for tags: `Ａlice` must not exist next to `alice`. */
final class UserNameKey implements KeyFunction
{
    public static function profile(): string
    {
        return 'user-nfkc-casefold-v1';
    }

    /** @return ?string null for what cannot be a name */
    public static function of(string $raw): ?string
    {
        $key = Normalizer::normalize($raw, Normalizer::NFKC_CF);
        return $key !== false && preg_match('/^[\p{L}\p{N}_-]{3,32}$/uD', $key) === 1 ? $key : null;
    }
}
