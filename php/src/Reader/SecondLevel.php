<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** The second levels of a set with known-absent keys: one bit for each key that passes the filter. */
final class SecondLevel
{
    private const MULTIPLIER = 0x8EBC6AF0 << 32 | 0x9C88C6E3;

    /** @param string $seeds a byte for each shard */
    public function __construct(private readonly int $bytes, private readonly string $seeds)
    {
    }

    /** The bit of a key. Its shard's second level begins at $at. */
    public function bit(string $bytes, int $at, int $shard, int $hash): bool
    {
        $mixed = Word::fold($hash ^ Word::product(Word::G, ord($this->seeds[$shard])), self::MULTIPLIER);
        $window = Word::at($bytes, $at + Word::reduce($mixed, $this->bytes - 7));
        return Word::parity($window & Word::product($mixed, Word::A));
    }
}
