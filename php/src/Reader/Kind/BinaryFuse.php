<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

/** As xor, with positions in neighbouring segments. */
final class BinaryFuse extends Xor3
{
    public const NAME = 'binary_fuse';
    protected const HASH_COUNTS = [3, 4];

    private const INSIDE_BITS = 10; // of the hash, for the place inside a segment

    protected function positions(int $mixed, array $entry): array
    {
        $first = self::reduce($mixed, $entry['blocks'] << $entry['shape']);
        $inside = self::product($mixed, self::A);
        $positions = [$first];
        for ($i = 1; $i < $this->hashCount; ++$i, $inside <<= self::INSIDE_BITS) {
            $moved = $inside >> 64 - self::INSIDE_BITS & (1 << $entry['shape']) - 1;
            $positions[] = $first + ($i << $entry['shape']) ^ $moved;
        }
        return $positions;
    }

    protected function faultOfTable(array $entry, int $slots): ?string
    {
        return match (true) {
            $entry['shape'] > self::INSIDE_BITS => 'its segments are longer than they can be',
            $entry['blocks'] === 0 => 'it has fields of a table without segments',
            default => $entry['blocks'] + $this->hashCount - 1 <= $slots >> $entry['shape'] ? null : 'its slots reach beyond the shard',
        };
    }
}
