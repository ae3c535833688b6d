<?php

declare(strict_types=1);

namespace App;

use Normalizer;

/** Defines which tags are the same. Builder and lookups both use it: a key is bytes, and `Café` is not `café`. */
final class TagKey
{
    /** Change it with the rules: a set that was built by other rules then answers maybe instead of a wrong absent. */
    public const PROFILE = 'tag-nfc-casefold-v1';

    public static function of(string $tag): string
    {
        $trimmed = preg_replace('/^[\s\pZ]+|[\s\pZ]+$/u', '', $tag);
        if ($trimmed === null) {
            return $tag; // invalid UTF-8 is never a tag, but must be the same key for build and lookup
        }
        $composed = (string) Normalizer::normalize($trimmed, Normalizer::NFC);
        return (string) Normalizer::normalize(mb_convert_case($composed, MB_CASE_FOLD, 'UTF-8'), Normalizer::NFC);
    }
}
