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
            // Kind::fold() with Kind::INSIDE_SHARDS, 0xa0761d6478bd642f.
            $odd1 = $low * 0x78bd;
            $odd3 = $low * 0xa076 + $high * 0x78bd;
            $odd5 = $high * 0xa076;
            $word0 = $low * 0x642f + (($odd1 & 0xffff) << 16);
            $word1 = ($word0 >> 32) + ($odd1 >> 16) + $low * 0x1d64 + $high * 0x642f + (($odd3 & 0xffff) << 16);
            $word2 = ($word1 >> 32) + ($odd3 >> 16) + $high * 0x1d64 + (($odd5 & 0xffff) << 16);
            $at = (((($word1 ^ ($word2 >> 32) + ($odd5 >> 16)) & 0xffffffff) * $blocks >> 32) + $shard * $blocks - $offset) << 3;
            $low = ($word0 ^ $word2) & 0xffffffff;
            // Per lane the top five bits of the lower half of the product with Kind::SALTS.
            $lanes[$at] |= 1 << ($low * 0x137b + (($low * 0x47b6 & 0xffff) << 16) >> 27 & 31);
            $lanes[$at + 1] |= 1 << ($low * 0x4d91 + (($low * 0x4497 & 0xffff) << 16) >> 27 & 31);
            $lanes[$at + 2] |= 1 << ($low * 0xad5b + (($low * 0x8824 & 0xffff) << 16) >> 27 & 31);
            $lanes[$at + 3] |= 1 << ($low * 0x289d + (($low * 0xa2b7 & 0xffff) << 16) >> 27 & 31);
            $lanes[$at + 4] |= 1 << ($low * 0x95c7 + (($low * 0x7054 & 0xffff) << 16) >> 27 & 31);
            $lanes[$at + 5] |= 1 << ($low * 0x424b + (($low * 0x2df1 & 0xffff) << 16) >> 27 & 31);
            $lanes[$at + 6] |= 1 << ($low * 0x4947 + (($low * 0x9efc & 0xffff) << 16) >> 27 & 31);
            $lanes[$at + 7] |= 1 << ($low * 0xfb31 + (($low * 0x5c6b & 0xffff) << 16) >> 27 & 31);
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
