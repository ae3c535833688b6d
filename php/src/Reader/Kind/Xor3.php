<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

/** The kind xor: one position in each third of the table. */
final class Xor3 extends Peeled
{
    public const NAME = 'xor';
    protected const HASH_COUNTS = [3, 3];

    protected function positions(int $mixed, array $entry): array
    {
        $third = $entry['blocks'];
        return [
            ($mixed & 0x1fffff) * $third >> 21,
            $third + (($mixed >> 21 & 0x1fffff) * $third >> 21),
            2 * $third + (($mixed >> 42 & 0x1fffff) * $third >> 21),
        ];
    }

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
