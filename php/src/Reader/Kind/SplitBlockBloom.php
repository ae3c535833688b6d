<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/** One bit in each of eight 32-bit lanes of a block of 32 bytes, as in the live layer. */
final class SplitBlockBloom extends Kind
{
    public const NAME = 'split_block_bloom';
    protected const HASH_COUNTS = [8, 8];

    public function find(string $bytes, string $entry, int $hash): ?int
    {
        $mixed = self::mix($hash);
        return self::blockHas($bytes, 32 * self::reduce($mixed, $this->shardBytes >> 5), $mixed) ? 0 : null;
    }
}
