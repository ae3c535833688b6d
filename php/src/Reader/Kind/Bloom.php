<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/** k bits anywhere in the shard. */
final class Bloom extends Kind
{
    public const NAME = 'bloom';
    protected const HASH_COUNTS = [1, 32];

    public function find(string $bytes, string $entry, int $hash): ?int
    {
        $mixed = self::mix($hash);
        for ($i = 0; $i < $this->hashCount; ++$i) {
            $mixed = self::product($mixed, self::G);
            $bit = self::reduce($mixed, 8 * $this->shardBytes);
            if ((ord($bytes[$bit >> 3]) >> ($bit & 7) & 1) === 0) {
                return null;
            }
        }
        return 0;
    }
}
