<?php

declare(strict_types=1);

namespace App;

use KeySieve\Keys\KeyFunction;
use Normalizer;

/** Defines which tags are the same. Builder and lookups both use it: a key is bytes, and `Café` is not `café`. */
final class TagKey implements KeyFunction
{
    /** Change it with the rules: a set that was built by other rules then answers maybe instead of a wrong absent. */
    public static function profile(): string
    {
        return 'tag-nfc-casefold-v1';
    }

    public static function of(string $raw): string
    {
        $trimmed = preg_replace('/^[\s\pZ]+|[\s\pZ]+$/u', '', $raw);
        if ($trimmed === null) {
            return $raw; // invalid UTF-8 is never a tag, but must be the same key for build and lookup
        }
        $composed = (string) Normalizer::normalize($trimmed, Normalizer::NFC);
        return (string) Normalizer::normalize(mb_convert_case($composed, MB_CASE_FOLD, 'UTF-8'), Normalizer::NFC);
    }
}
