<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;
use KeySieve\Reader\Word;

/** One bit in each of eight 32-bit lanes of a block of 32 bytes. */
final class SplitBlockBloom extends Kind
{
    public const NAME = 'split_block_bloom';
    protected const HASH_COUNTS = [8, 8];

    private const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

    public function mayContain(string $bytes, int $at, array $entry, int $hash): bool
    {
        $mixed = Word::mix($hash);
        return self::blockHas($bytes, $at + 32 * Word::reduce($mixed, $this->shardBytes >> 5), $mixed);
    }

    /** Whether the block that begins at $at has all bits of a key. The live layer consists of such blocks too. */
    public static function blockHas(string $bytes, int $at, int $mixed): bool
    {
        $low = $mixed & Word::HALF;
        foreach (self::SALTS as $salt) {
            // The top five bits of the lower half of the product.
            $bit = $low * ($salt & 0xffff) + (($low * ($salt >> 16) & 0xffff) << 16) >> 27 & 31;
            if ((ord($bytes[$at + ($bit >> 3)]) >> ($bit & 7) & 1) === 0) {
                return false;
            }
            $at += 4;
        }
        return true;
    }
}
