<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/**
 * Linear equations over a window of 64 slots: eight blocks of a byte for each column. In a map, the first columns are the fingerprint and
 * the next ones the value.
 */
final class Ribbon extends Kind
{
    public const NAME = 'ribbon';
    public const CAN_HAVE_VALUES = true;
    protected const HASH_COUNTS = [64, 64];

    private const WINDOW_BLOCKS = 8;
    private const EVEN_LEVEL = 16;
    private const MOST_COLUMNS = 30;
    private const MOST_BLOCKS = 1 << 14;
    private const TAIL_BYTES = 16;
    private const TAIL_BYTES_OF_MAPS = 32;

    public function mayContain(string $bytes, int $at, string $entry, int $hash): bool
    {
        $entry = self::entry($entry);
        $columns = $entry['width'];
        if ($columns === 0 || $entry['keys'] === 0) {
            return $entry['keys'] !== 0;
        }
        return $this->sums($bytes, $at, $entry, $hash) !== null;
    }

    public function find(string $bytes, int $at, string $entry, int $hash): ?int
    {
        $entry = self::entry($entry);
        $sums = $entry['keys'] === 0 ? null : $this->sums($bytes, $at, $entry, $hash);
        if ($sums === null) {
            return null;
        }
        $value = 0;
        $compared = $entry['width'] - $this->valueBits;
        for ($bit = 0; $bit < $this->valueBits; ++$bit) {
            $value |= (int) self::parity(ord($sums[$compared + $bit])) << $bit;
        }
        return $value;
    }

    /**
     * What the columns give for a key, as {@see columnSums()}; null: the fingerprint is of another key.
     *
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     */
    private function sums(string $bytes, int $at, array $entry, int $hash): ?string
    {
        $columns = $entry['width'];
        $compared = $columns - $this->valueBits;
        $mixed = self::mix($hash);
        $block = self::block($mixed, $entry);
        $row = pack('P', self::product($mixed, self::A));
        $wanted = self::product($mixed, self::C) >> 32;
        $sums = self::columnSums($bytes, $at + $block * $columns, $columns, $row);
        for ($column = 0; $column < $compared; ++$column) {
            if (self::parity(ord($sums[$column])) !== (($wanted >> $column & 1) === 1)) {
                return null;
            }
        }
        return $this->shortColumnAgrees($bytes, $at, $entry, $block, $row, ($wanted >> $compared & 1) === 1) ? $sums : null;
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
            $entry['width'] !== 0 && !self::isInOrder($entry) => 'a quarter of its line ends before it begins',
            default => null,
        };
    }

    public function fillRatio(string $bytes, int $at, array $entry): ?float
    {
        return null;
    }

    /**
     * The first block of the key's row: half a window before its place on the line.
     *
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     */
    private static function block(int $mixed, array $entry): int
    {
        $blocks = $entry['blocks'];
        $position = $mixed >> 32 & self::HALF;
        $position = $position + ($position & 0xff000000) * 2 * $entry['seed'] & self::HALF;
        $quarter = $position >> 30;
        $levels = self::levels($entry);
        // Counted in quarters of a block.
        $from = $blocks * $quarter + 4 * ($levels[$quarter] - self::EVEN_LEVEL);
        $length = $blocks + 4 * ($levels[$quarter + 1] - $levels[$quarter]);
        $place = $from + (($position << 2 & self::HALF) * $length >> 32);
        return min(max(($place >> 2) - self::WINDOW_BLOCKS / 2, 0), $blocks - self::WINDOW_BLOCKS);
    }

    /**
     * Where the quarters of the line begin, and where it ends: how many blocks behind the even place, and EVEN_LEVEL more.
     *
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     * @return int[]
     */
    private static function levels(array $entry): array
    {
        return [self::EVEN_LEVEL, $entry['shape'] & 31, $entry['shape'] >> 5 & 31, $entry['shape'] >> 10 & 31, self::EVEN_LEVEL];
    }

    /**
     * Whether no quarter ends before it begins.
     *
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     */
    private static function isInOrder(array $entry): bool
    {
        $levels = self::levels($entry);
        for ($quarter = 0; $quarter < 4; ++$quarter) {
            if ($entry['blocks'] + 4 * ($levels[$quarter + 1] - $levels[$quarter]) < 0) {
                return false;
            }
        }
        return true;
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

    /**
     * True as well if the window is not in the short column.
     *
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     */
    private function shortColumnAgrees(string $bytes, int $at, array $entry, int $block, string $row, bool $wanted): bool
    {
        $window = $entry['blocks'] * $entry['width'] + $block;
        if ($window + self::WINDOW_BLOCKS > $this->shardBytes) {
            return true;
        }
        return self::parity(self::word(substr($bytes, $at + $window, self::WINDOW_BLOCKS) & $row, 0)) === $wanted;
    }
}
