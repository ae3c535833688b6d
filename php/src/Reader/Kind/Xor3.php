<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/** The kind xor: a fingerprint that is the exclusive or of the fields at the key's positions, one in each third of the table. */
class Xor3 extends Kind
{
    public const NAME = 'xor';
    public const HAS_FILL_RATIO = false;
    protected const HASH_COUNTS = [3, 3];

    private const WIDEST = 32;

    final public function find(string $bytes, string $entry, int $hash): ?int
    {
        $entry = self::entry($entry);
        $width = $entry['width'];
        if ($width === 0 || $entry['keys'] === 0) {
            return $entry['keys'] === 0 ? null : 0;
        }
        $mixed = self::mix($hash, $entry['seed']);
        $sum = self::product($mixed, self::C) >> 32;
        foreach ($this->positions($mixed, $entry) as $position) {
            $sum ^= self::field($bytes, $position * $width, $width);
        }
        return ($sum & (1 << $width) - 1) === 0 ? 0 : null;
    }

    final public function faultOf(array $entry): ?string
    {
        return match (true) {
            $entry['width'] > self::WIDEST => 'its fields are wider than they can be',
            $entry['width'] !== 0 => $this->faultOfTable($entry, intdiv(8 * $this->shardBytes, $entry['width'])),
            default => $entry['blocks'] === 0 && $entry['shape'] === 0 ? null : 'it has a table of fields without bits',
        };
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
        return match (true) {
            $entry['shape'] !== 0 => 'its kind has no shape',
            $entry['blocks'] === 0 => 'it has fields of a table without slots',
            default => $entry['blocks'] <= intdiv($slots, 3) ? null : 'its slots reach beyond the shard',
        };
    }
}
