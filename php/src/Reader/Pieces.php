<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** The pieces of snapshots that were read last, of all sets of the process together: at most 4 MiB. */
final class Pieces
{
    private const MOST_BYTES = 4 << 20;
    private const PAGE_BYTES = 4096; // a string takes up to one more than its bytes

    /** @var array<int, string> the one that was used last is at the end, once something had to be given up */
    private static array $kept = [];
    private static int $keptBytes = 0;
    private static bool $isFull = false;
    private static int $snapshots = 0;

    /** @return int a number for the pieces of one more snapshot */
    public static function newSnapshot(): int
    {
        return ++self::$snapshots << 32;
    }

    /** Whether all of a snapshot can be kept, next to others. */
    public static function haveRoomFor(int $bytes): bool
    {
        return $bytes <= self::MOST_BYTES / 2;
    }

    public static function find(int $piece): ?string
    {
        $bytes = self::$kept[$piece] ?? null;
        if ($bytes !== null && self::$isFull) {
            unset(self::$kept[$piece]);
            self::$kept[$piece] = $bytes;
        }
        return $bytes;
    }

    public static function keep(int $piece, string $bytes): string
    {
        if (isset(self::$kept[$piece])) {
            return $bytes; // two have read it at the same time
        }
        self::$keptBytes += strlen($bytes) + self::PAGE_BYTES;
        while (self::$keptBytes > self::MOST_BYTES && ($oldest = array_key_first(self::$kept)) !== null) {
            self::$isFull = true;
            self::$keptBytes -= strlen(self::$kept[$oldest]) + self::PAGE_BYTES;
            unset(self::$kept[$oldest]);
        }
        return self::$kept[$piece] = $bytes;
    }
}
