<?php

declare(strict_types=1);

namespace App;

use Normalizer;

/** Defines which names are the same. Stricter than for tags: `Ａlice` must not exist next to `alice`. */
final class UserNameKey
{
    public const PROFILE = 'user-nfkc-casefold-v1';

    /** @return ?string null for what cannot be a name */
    public static function of(string $name): ?string
    {
        $key = Normalizer::normalize($name, Normalizer::NFKC_CF);
        return $key !== false && preg_match('/^[\p{L}\p{N}_-]{3,32}$/uD', $key) === 1 ? $key : null;
    }
}
