<?php

declare(strict_types=1);

namespace App;

use Normalizer;

/** What counts as the same tag. Builder and lookups both come here: a key is bytes, and `Café` is not `café`. */
final class TagKey
{
    /** Change it with the rules: a set that was built by others then answers maybe instead of a wrong absent. */
    public const PROFILE = 'tag-nfc-casefold-v1';

    public static function of(string $tag): string
    {
        $trimmed = preg_replace('/^[\s\pZ]+|[\s\pZ]+$/u', '', $tag);
        if ($trimmed === null) {
            return $tag; // no UTF-8: nobody's tag, but still the same key for all who ask
        }
        $composed = Normalizer::normalize($trimmed, Normalizer::NFC);
        return Normalizer::normalize(mb_convert_case($composed, MB_CASE_FOLD, 'UTF-8'), Normalizer::NFC);
    }
}
