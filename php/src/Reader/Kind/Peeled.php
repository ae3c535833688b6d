<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;
use KeySieve\Reader\Word;

/** A fingerprint that is the exclusive or of the fields at the key's positions. */
abstract class Peeled extends Kind
{
    private const WIDEST = 32;

    /**
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     * @return int[]
     */
    abstract protected function positions(int $mixed, array $entry): array;

    /**
     * Why there can be no such table of at most $slots fields; null: there can.
     *
     * @param array{keys: int, seed: int, width: int, blocks: int, shape: int} $entry
     */
    abstract protected function faultOfTable(array $entry, int $slots): ?string;

    final public function mayContain(string $bytes, int $at, array $entry, int $hash): bool
    {
        $width = $entry['width'];
        if ($width === 0 || $entry['keys'] === 0) {
            return $entry['keys'] !== 0;
        }
        $mixed = Word::mix($hash, $entry['seed']);
        $sum = Word::product($mixed, Word::C) >> 32;
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
}
