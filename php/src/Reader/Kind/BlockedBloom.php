<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/** All bits in one block of 64 bytes. */
final class BlockedBloom extends Kind
{
    public const NAME = 'blocked_bloom';
    protected const HASH_COUNTS = [1, 20];

    public function find(string $bytes, string $entry, int $hash): ?int
    {
        $mixed = self::mix($hash);
        $at = 64 * self::reduce($mixed, $this->shardBytes >> 6);
        $word = $mixed & self::HALF;
        for ($i = 0; $i < $this->hashCount; ++$i) {
            if ($i !== 0 && ($i & 7) === 0) {
                $mixed = self::product($mixed, self::G);
                $word = $mixed >> 32 & self::HALF;
            }
            $salt = self::SALTS[7 - ($i & 7)];
            $place = $word * $salt & self::HALF;
            $bit = 31 - ($place >> 23 & 31);
            if ((ord($bytes[$at + 4 * ($place >> 28) + ($bit >> 3)]) >> ($bit & 7) & 1) === 0) {
                return null;
            }
        }
        return 0;
    }
}
