<?php

declare(strict_types=1);

namespace KeySieve\Build;

use KeySieve\Reader\Kind;

/** The shards of a split_block_bloom set: core/builder/filters/split_block_bloom.hpp and bit_builder.hpp in PHP. */
final class Shards
{
    private const MOST_KEYS = 65_535; // of a shard: its entry has 16 bits for them
    private const LANES = 8;
    private const LANE_BITS = 32;

    /** @var string one after the other */
    public string $bytes = '';
    /** @var string the shard table */
    public string $entries = '';
    /** @var float the mean over all shards: for each block the chance that an absent key's bit is set in all its lanes */
    public float $estimatedFpr = 0.0;
    /** @var string how many bits are set in each number of 16 bits */
    private readonly string $ones;

    /**
     * @param iterable<int, array<int, mixed>> $parts by the first byte of their hashes, from 0 to 255: the distinct hashes, as array keys
     * @throws WrongKeys if one has too many keys
     */
    public function __construct(private readonly int $count, private readonly int $shardBytes, iterable $parts)
    {
        $this->ones = self::ones();
        $lanes = []; // of the shards from $first to before $end, 32 bits each
        $keys = []; // how many each of them has
        $first = $end = 0;
        foreach ($parts as $byte => $hashes) {
            for ($last = Kind::shard($byte << 56 | (1 << 56) - 1, $count); $end <= $last; ++$end) {
                array_push($lanes, ...array_fill(0, $shardBytes >> 2, 0));
                $keys[$end] = 0;
            }
            self::mark($hashes, $count, $shardBytes, $first, $lanes, $keys);
            $next = $byte === 255 ? $count : Kind::shard(($byte + 1) << 56, $count);
            for ($at = 0; $first < $next; ++$first, $at += $shardBytes >> 2) {
                $this->append(array_slice($lanes, $at, $shardBytes >> 2), $keys[$first]);
                unset($keys[$first]);
            }
            $lanes = $at === 0 ? $lanes : array_slice($lanes, $at);
        }
        $this->estimatedFpr /= $count;
    }

    /**
     * Sets the bits of hashes, as Kind::mix() and Kind::blockHas() look for them. All is written out, because this is where the time goes.
     *
     * @param array<int, mixed> $hashes
     * @param array<int, int> $lanes
     * @param array<int, int> $keys
     */
    private static function mark(array $hashes, int $count, int $shardBytes, int $first, array &$lanes, array &$keys): void
    {
        $blocks = $shardBytes >> 5;
        $offset = $first * $blocks;
        foreach ($hashes as $hash => $_) {
            $low = $hash & 0xffffffff;
            $high = $hash >> 32 & 0xffffffff;
            $shard = $high * $count + ($low * $count >> 32) >> 32;
            ++$keys[$shard];
            // As Reader\Snapshot::probe().
            $first = $low * 0x78bd642f;
            $second = $high * 0x78bd642f;
            $third = $low * -0x5f89e29c;
            $fourth = $high * -0x5f89e29c;
            $middle = ($first >> 32) + ($second & 0xffffffff) + ($third & 0xffffffff);
            $upper = ($middle >> 32) + ($second >> 32) + ($third >> 32) + $low + ($fourth & 0xffffffff);
            $at = (((($middle ^ ($upper >> 32) + ($fourth >> 32) + $high) & 0xffffffff) * $blocks >> 32) + $shard * $blocks - $offset) << 3;
            $low = ($first ^ $upper) & 0xffffffff;
            $lanes[$at] |= 1 << ($low * 0x47b6137b >> 27 & 31);
            $lanes[$at + 1] |= 1 << ($low * 0x44974d91 >> 27 & 31);
            $lanes[$at + 2] |= 1 << ($low * -0x77db52a5 >> 27 & 31);
            $lanes[$at + 3] |= 1 << ($low * -0x5d48d763 >> 27 & 31);
            $lanes[$at + 4] |= 1 << ($low * 0x705495c7 >> 27 & 31);
            $lanes[$at + 5] |= 1 << ($low * 0x2df1424b >> 27 & 31);
            $lanes[$at + 6] |= 1 << ($low * -0x6103b6b9 >> 27 & 31);
            $lanes[$at + 7] |= 1 << ($low * 0x5c6bfb31 >> 27 & 31);
        }
    }

    /** @param array<int, int> $lanes */
    private function append(array $lanes, int $keys): void
    {
        if ($keys > self::MOST_KEYS) {
            throw new WrongKeys("a shard of $this->shardBytes bytes is overfull with $keys keys, more than " . self::MOST_KEYS);
        }
        $this->bytes .= pack('V*', ...$lanes);
        $this->entries .= pack('vx6', $keys);
        $sum = 0; // of products of whole numbers, which are exact
        foreach (array_chunk($lanes, self::LANES) as $block) {
            $product = 1;
            foreach ($block as $lane) {
                $product *= ord($this->ones[$lane & 0xffff]) + ord($this->ones[$lane >> 16]);
            }
            $sum += $product;
        }
        $blocks = intdiv(count($lanes), self::LANES);
        $this->estimatedFpr += $sum / self::LANE_BITS ** self::LANES / $blocks;
    }

    private static function ones(): string
    {
        $ones = "\0";
        for ($bits = 0; $bits < 16; ++$bits) {
            $ones .= strtr($ones, implode('', array_map('chr', range(0, $bits))), implode('', array_map('chr', range(1, $bits + 1))));
        }
        return $ones;
    }
}
