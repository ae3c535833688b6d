<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/** The kind xor: a fingerprint that is the exclusive or of the fields at the key's positions, one in each third of the table. */
class Xor3 extends Kind
{
    public const NAME = 'xor';
    protected const HASH_COUNTS = [3, 3];

    private const WIDEST = 32;

    final public function mayContain(string $bytes, int $at, string $entry, int $hash): bool
    {
        $entry = self::entry($entry);
        $width = $entry['width'];
        if ($width === 0 || $entry['keys'] === 0) {
            return $entry['keys'] !== 0;
        }
        $mixed = self::mix($hash, $entry['seed']);
        $sum = self::product($mixed, self::C) >> 32;
        foreach ($this->positions($mixed, $entry) as $position) {
            $sum ^= self::field($bytes, $at, $position * $width, $width);
        }
        return ($sum & (1 << $width) - 1) === 0;
    }

    final public function faultOf(array $entry): ?string
    {
        if ($entry['width'] > self::WIDEST) {
            return 'its fields are wider than they can be';
        }
        if ($entry['width'] === 0) {
            return $entry['blocks'] === 0 && $entry['shape'] === 0 ? null : 'it has a table of fields without bits';
        }
        return $this->faultOfTable($entry, intdiv(8 * $this->shardBytes, $entry['width']));
    }

    final public function fillRatio(string $bytes, int $at, array $entry): ?float
    {
        return null;
    }

    /**
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     * @return int[]
     */
    protected function positions(int $mixed, array $entry): array
    {
        $third = $entry['blocks'];
        return [
            ($mixed & 0x1fffff) * $third >> 21,
            $third + (($mixed >> 21 & 0x1fffff) * $third >> 21),
            2 * $third + (($mixed >> 42 & 0x1fffff) * $third >> 21),
        ];
    }

    /**
     * Why there can be no such table of at most $slots fields; null: there can.
     *
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     */
    protected function faultOfTable(array $entry, int $slots): ?string
    {
        if ($entry['shape'] !== 0) {
            return 'its kind has no shape';
        }
        if ($entry['blocks'] === 0) {
            return 'it has fields of a table without slots';
        }
        return $entry['blocks'] <= intdiv($slots, 3) ? null : 'its slots reach beyond the shard';
    }
}
