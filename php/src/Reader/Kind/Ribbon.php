<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/**
 * Linear equations over a window of 64 slots: eight blocks of a byte for each column. In a map, the first columns are the fingerprint and
 * the next ones the value.
 *
 * @phpstan-import-type Entry from Kind
 */
final class Ribbon extends Kind
{
    public const NAME = 'ribbon';
    public const CAN_HAVE_VALUES = true;
    public const HAS_FILL_RATIO = false;
    protected const HASH_COUNTS = [64, 64];

    private const WINDOW_BLOCKS = 8;
    private const EVEN_LEVEL = 16;
    private const MOST_COLUMNS = 30;
    private const MOST_BLOCKS = 1 << 14;
    private const TAIL_BYTES = 16;
    private const TAIL_BYTES_OF_MAPS = 32;

    public function find(string $bytes, string $entry, int $hash): ?int
    {
        $entry = self::entry($entry);
        $columns = $entry['width'];
        if ($columns === 0 || $entry['keys'] === 0) {
            return $entry['keys'] === 0 ? null : 0;
        }
        $compared = $columns - $this->valueBits;
        $mixed = self::mix($hash);
        $block = self::firstBlock($mixed, $entry);
        $row = pack('P', self::product($mixed, self::A));
        $wanted = self::product($mixed, self::C) >> 32;
        $sums = self::columnSums($bytes, $block * $columns, $columns, $row);
        for ($column = 0; $column < $compared; ++$column) {
            if (self::parity(ord($sums[$column])) !== (($wanted >> $column & 1) === 1)) {
                return null;
            }
        }
        $window = $entry['blocks'] * $columns + $block; // of the short column, which may end before
        if ($window + self::WINDOW_BLOCKS <= $this->shardBytes
            && self::parity(self::word($bytes, $window) & self::word($row, 0)) !== (($wanted >> $compared & 1) === 1)) {
            return null;
        }
        for ($value = 0; $column < $columns; ++$column) {
            $value |= (int) self::parity(ord($sums[$column])) << $column - $compared;
        }
        return $value;
    }

    public function faultOf(array $entry): ?string
    {
        return match (true) {
            $entry['shape'] >= 1 << 15 => 'its levels have more bits than there are',
            $entry['width'] > self::MOST_COLUMNS + $this->valueBits => 'it has more columns than a ribbon can have',
            $entry['keys'] !== 0 && $entry['width'] < $this->valueBits => 'it has no room for its values',
            $entry['blocks'] < self::WINDOW_BLOCKS => 'a window is longer than its slots',
            $entry['blocks'] > self::MOST_BLOCKS => 'it has more blocks than a ribbon can have',
            $entry['blocks'] * $entry['width'] + ($this->valueBits === 0 ? self::TAIL_BYTES : self::TAIL_BYTES_OF_MAPS) > $this->shardBytes => 'its slots reach beyond the shard',
            $entry['width'] !== 0 && $entry['blocks'] < 4 * self::steepest($entry['shape']) => 'a quarter of its line ends before it begins',
            default => null,
        };
    }

    /** @param Entry $entry */
    private static function firstBlock(int $mixed, array $entry): int
    {
        $blocks = $entry['blocks'];
        $position = $mixed >> 32 & self::HALF;
        $position = $position + ($position & 0xff000000) * 2 * $entry['seed'] & self::HALF;
        $quarter = $position >> 30;
        $levels = self::levels($entry['shape']);
        // Counted in quarters of a block.
        $from = $blocks * $quarter + 4 * ($levels[$quarter] - self::EVEN_LEVEL);
        $length = $blocks + 4 * ($levels[$quarter + 1] - $levels[$quarter]);
        $place = $from + (($position << 2 & self::HALF) * $length >> 32);
        // Half a window before the key's place on the line.
        return min(max(($place >> 2) - self::WINDOW_BLOCKS / 2, 0), $blocks - self::WINDOW_BLOCKS);
    }

    /** @return int[] where the quarters of the line begin, and where it ends: how many blocks behind the even place, and EVEN_LEVEL more */
    private static function levels(int $shape): array
    {
        return [self::EVEN_LEVEL, $shape & 31, $shape >> 5 & 31, $shape >> 10 & 31, self::EVEN_LEVEL];
    }

    /** How many blocks the quarters of the line lose most, each to the next one. */
    private static function steepest(int $shape): int
    {
        $levels = self::levels($shape);
        return max(0, ...array_map(static fn (int $from, int $to): int => $from - $to, array_slice($levels, 0, 4), array_slice($levels, 1)));
    }

    /** One byte for each column, whose parity is what the row gives in it. */
    private static function columnSums(string $bytes, int $at, int $columns, string $row): string
    {
        $mask = '';
        for ($block = 0; $block < self::WINDOW_BLOCKS; ++$block) {
            $mask .= str_repeat($row[$block], $columns);
        }
        $sums = substr($bytes, $at, self::WINDOW_BLOCKS * $columns) & $mask;
        $sums = substr($sums, 0, 4 * $columns) ^ substr($sums, 4 * $columns);
        $sums = substr($sums, 0, 2 * $columns) ^ substr($sums, 2 * $columns);
        return substr($sums, 0, $columns) ^ substr($sums, $columns);
    }
}
