<?php

// What a site without an extension of its own has done.

declare(strict_types=1);

require_once __DIR__ . '/method.php';

/** Bloom filters in shards, as a site has built them in 2014: crc32, k = 6, bits tested by PHP. */
abstract class Shards extends Method
{
    protected const SHARD_BYTES = 8192;
    protected const KEYS_PER_SHARD = 6500;
    private const PROBES = 6;

    /** Where bits of the key stand: the remainder chooses the shard, so the quotient is what is left. */
    private static function bits(int $quotient): iterable
    {
        $step = (($quotient * 0x9E3779B1) >> 9) | 1;
        for ($probe = 0; $probe < self::PROBES; ++$probe) {
            yield ($quotient + $probe * $step) % (8 * static::SHARD_BYTES);
        }
    }

    public static function fill(Place $place): void
    {
        $count = (int) ceil($place->count / static::KEYS_PER_SHARD);
        $shards = array_fill(0, $count, str_repeat("\0", static::SHARD_BYTES));
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                $hash = crc32($key);
                $shard = $hash % $count;
                foreach (self::bits(intdiv($hash, $count)) as $bit) {
                    $shards[$shard][$bit >> 3] = chr(ord($shards[$shard][$bit >> 3]) | 1 << ($bit & 7));
                }
            }
        }
        foreach ($shards as $number => $shard) {
            apcu_store(static::class . ":{$place->count}:$number", $shard);
        }
    }

    public function ask(array $pages): int
    {
        $found = 0;
        $count = (int) ceil($this->place->count / static::KEYS_PER_SHARD);
        $prefix = static::class . ":{$this->place->count}:";
        $bits = 8 * static::SHARD_BYTES;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                $hash = crc32($key);
                $bit = intdiv($hash, $count);
                $step = (($bit * 0x9E3779B1) >> 9) | 1;
                $shard = apcu_fetch($prefix . $hash % $count);
                for ($probe = 0; $probe < self::PROBES; ++$probe, $bit += $step) {
                    $at = $bit % $bits;
                    if ((ord($shard[$at >> 3]) & 1 << ($at & 7)) === 0) {
                        continue 2;
                    }
                }
                ++$found;
            }
        }
        return $found;
    }

    public function sharedBytes(): int
    {
        return (int) ceil($this->place->count / static::KEYS_PER_SHARD) * static::SHARD_BYTES;
    }
}

final class LargeShards extends Shards
{
}

final class SmallShards extends Shards
{
    protected const SHARD_BYTES = 1024;
    protected const KEYS_PER_SHARD = 800;
}
