<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/** One bit in each of k parts of the shard. */
final class PartitionedBloom extends Kind
{
    public const NAME = 'partitioned_bloom';
    protected const HASH_COUNTS = [1, 32];

    public function find(string $bytes, string $entry, int $hash): ?int
    {
        $mixed = self::mix($hash);
        $partition = intdiv($this->shardBytes, $this->hashCount);
        for ($i = $at = 0; $i < $this->hashCount; ++$i, $at += $partition) {
            $mixed = self::product($mixed, self::G);
            $bit = self::reduce($mixed, 8 * $partition);
            if ((ord($bytes[$at + ($bit >> 3)]) >> ($bit & 7) & 1) === 0) {
                return null;
            }
        }
        return 0;
    }
}
