<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** Snapshots that no build has made, though all their checksums are right. */
final class Forgery
{
    /** Other bytes at an offset of a snapshot, outside its shards. */
    public static function of(string $snapshot, int $offset, string $bytes): string
    {
        $snapshot = substr_replace($snapshot, $bytes, $offset, strlen($bytes));
        $shardsAt = unpack('P', $snapshot, 304)[1];
        $snapshot = substr_replace($snapshot, self::checksum(substr($snapshot, 4096, $shardsAt - 4096)), 320, 8);
        return substr_replace($snapshot, self::checksum(substr($snapshot, 0, 4088)), 4088, 8);
    }

    private static function checksum(string $bytes): string
    {
        return strrev(hash('xxh3', $bytes, true));
    }
}
