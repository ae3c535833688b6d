<?php

declare(strict_types=1);

namespace KeySieve\Build;

/** How many shards a split_block_bloom set needs, by the formulas of core/builder/filters (sizing.cpp, expectation.hpp, bit_builder.hpp). */
final class Sizing
{
    /** As the shards' number in a header. */
    private const MOST_SHARDS = 1 << 20;
    private const LEAST_FPR = 1e-9;
    private const MOST_FPR = 0.5;
    /** What the kind reaches at any size of shards; below, shards would take more bits per key than a list of hashes. */
    private const LEAST_FPR_REACHED = 1e-6;
    private const MOST_BITS_PER_KEY = 64;
    /** Rounding must not decide where an FPR is constant over a range of loads. */
    private const SLACK = 1.0 + 1e-9;
    private const BLOCK_BYTES = 32;
    private const LANE_BITS = 32;
    private const LANES = 8;

    /** @throws \ValueError for an FPR out of range or out of reach, or too many keys */
    public static function shards(int $keys, float $fpr, int $shardBytes): int
    {
        self::check($fpr, $shardBytes);
        $target = max($fpr - self::sameHash($keys), $fpr / 2);
        $shards = max(1.0, ceil($keys / self::mostKeys($target, $shardBytes)));
        return $shards <= self::MOST_SHARDS ? (int) $shards : throw new \ValueError(
            sprintf('%d keys need more than %d shards of %d bytes, the most of one set', $keys, self::MOST_SHARDS, $shardBytes)
        );
    }

    /** @throws \ValueError as shards(), before there are keys */
    public static function check(float $fpr, int $shardBytes): void
    {
        if (!in_array($shardBytes, [1024, 2048, 4096, 8192], true)) {
            throw new \ValueError("shardBytes must be 1024, 2048, 4096 or 8192, not $shardBytes");
        }
        if (!($fpr >= self::LEAST_FPR && $fpr <= self::MOST_FPR)) {
            throw new \ValueError('fpr must be 1e-9 to 0.5, not ' . var_export($fpr, true)); // NAN is no string since PHP 8.5
        }
        if ($fpr < self::LEAST_FPR_REACHED && !self::meets($fpr, 8 * $shardBytes / self::MOST_BITS_PER_KEY, $shardBytes)) {
            throw new \ValueError("split_block_bloom cannot reach an fpr of $fpr in shards of $shardBytes bytes; 1e-6 is possible, and less by keysieve build");
        }
    }

    /** The part of the FPR that no filter can avoid: another key has the same hash. Too little to count below 18 million keys. */
    public static function sameHash(int $keys): float
    {
        $fpr = $keys * 2.0 ** -64;
        return $fpr < self::LEAST_FPR / 1000 ? 0.0 : $fpr;
    }

    /** Per shard, on average. The FPR only rises with them, so the interval is halved. */
    private static function mostKeys(float $fpr, int $shardBytes): float
    {
        [$low, $high] = [0.0, 8.0 * $shardBytes];
        for ($step = 0; $step < 40; ++$step) {
            $middle = ($low + $high) / 2;
            self::meets($fpr, $middle, $shardBytes) ? $low = $middle : $high = $middle;
        }
        return $low;
    }

    private static function meets(float $fpr, float $keysPerShard, int $shardBytes): bool
    {
        return self::ofBlocks($keysPerShard * self::BLOCK_BYTES / $shardBytes) <= $fpr * self::SLACK;
    }

    /** The chance that a key's bit is set in all lanes of a block: the mean over the keys in a block, which are Poisson distributed. */
    private static function ofBlocks(float $mean): float
    {
        $step = floor(sqrt($mean) / 4);
        $reach = 10 * sqrt($mean) + 20;
        $sum = 0.0;
        if ($step >= 2) { // a bell curve, for which steps of a quarter of its deviation are exact
            for ($keys = max(0.0, floor($mean - $reach)); $keys <= $mean + $reach; $keys += $step) {
                $sum += exp($keys * log($mean) - $mean - self::logFactorial($keys)) * self::ofBlock($keys);
            }
            return $sum * $step;
        }
        if ($mean <= 0) {
            return self::ofBlock(0);
        }
        $mode = floor($mean);
        $weight = $highest = exp($mode * log($mean) - $mean - self::logFactorial($mode));
        for ($keys = $mode; $keys >= 0 && $keys >= $mean - $reach; --$keys) {
            $sum += $weight * self::ofBlock($keys);
            $weight *= $keys / $mean;
        }
        $weight = $highest;
        for ($keys = $mode + 1; $keys <= $mean + $reach; ++$keys) {
            $weight *= $mean / $keys;
            $sum += $weight * self::ofBlock($keys);
        }
        return $sum;
    }

    private static function ofBlock(float $keys): float
    {
        return (1 - (1 - 1 / self::LANE_BITS) ** $keys) ** self::LANES;
    }

    /** To within rounding; PHP has no lgamma(). */
    private static function logFactorial(float $n): float
    {
        $sum = 0.0;
        for ($factor = 2; $factor <= $n; ++$factor) {
            $sum += log($factor);
        }
        return $sum;
    }
}
