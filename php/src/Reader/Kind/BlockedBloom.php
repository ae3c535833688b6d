<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;
use KeySieve\Reader\Word;

/** All bits in one block of 64 bytes. */
final class BlockedBloom extends Kind
{
    public const NAME = 'blocked_bloom';
    protected const HASH_COUNTS = [1, 20];

    private const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

    public function mayContain(string $bytes, int $at, array $entry, int $hash): bool
    {
        $mixed = Word::mix($hash);
        $at += 64 * Word::reduce($mixed, $this->shardBytes >> 6);
        $word = $mixed & Word::HALF;
        for ($i = 0; $i < $this->hashCount; ++$i) {
            if ($i !== 0 && ($i & 7) === 0) {
                $mixed = Word::product($mixed, Word::G);
                $word = $mixed >> 32 & Word::HALF;
            }
            $place = Word::shortProduct($word, self::SALTS[7 - ($i & 7)]);
            $bit = 31 - ($place >> 23 & 31);
            if ((ord($bytes[$at + 4 * ($place >> 28) + ($bit >> 3)]) >> ($bit & 7) & 1) === 0) {
                return false;
            }
        }
        return true;
    }
}
