<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** Arithmetic on words of 64 bits, held in ints: PHP's own product would become a float. */
final class Word
{
    /** The multipliers of docs/filters.md. */
    public const G = 0x9E3779B9 << 32 | 0x7F4A7C15;
    public const A = 0xE7037ED1 << 32 | 0xA0B428DB;
    public const C = 0x589965CC << 32 | 0x75374CC3;

    public const HALF = 0xffffffff;

    private const INSIDE_SHARDS = 0xA0761D64 << 32 | 0x78BD642F;

    /** The word at an offset, which is little-endian. */
    public static function at(string $bytes, int $at): int
    {
        /** @var array{1: int} $words */
        $words = unpack('P', $bytes, $at);
        return $words[1];
    }

    /** The hash of a key inside its shard. */
    public static function mix(int $hash, int $seed = 0): int
    {
        return self::fold($seed === 0 ? $hash : $hash ^ self::product(self::G, $seed), self::INSIDE_SHARDS);
    }

    /** The two halves of the 128-bit product, exclusive or. */
    public static function fold(int $a, int $b): int
    {
        // Halves of $a times quarters of $b: no product and no sum of them needs more than 52 bits.
        $low = $a & self::HALF;
        $high = $a >> 32 & self::HALF;
        $b2 = $b >> 32 & 0xffff;
        $odd1 = $low * ($b >> 16 & 0xffff);
        $odd3 = $low * ($b >> 48 & 0xffff) + $high * ($b >> 16 & 0xffff);
        $odd5 = $high * ($b >> 48 & 0xffff);
        $word0 = $low * ($b & 0xffff) + (($odd1 & 0xffff) << 16);
        $word1 = ($word0 >> 32) + ($odd1 >> 16) + $low * $b2 + $high * ($b & 0xffff) + (($odd3 & 0xffff) << 16);
        $word2 = ($word1 >> 32) + ($odd3 >> 16) + $high * $b2 + (($odd5 & 0xffff) << 16);
        $word3 = ($word2 >> 32) + ($odd5 >> 16);
        return ($word1 ^ $word3) << 32 | ($word0 ^ $word2) & self::HALF;
    }

    /** The product, modulo 2^64. */
    public static function product(int $a, int $b): int
    {
        $low = $a & self::HALF;
        $high = $a >> 32 & self::HALF;
        $odd1 = $low * ($b >> 16 & 0xffff);
        $odd3 = $low * ($b >> 48 & 0xffff) + $high * ($b >> 16 & 0xffff);
        $word0 = $low * ($b & 0xffff) + (($odd1 & 0xffff) << 16);
        $word1 = ($word0 >> 32) + ($odd1 >> 16) + $low * ($b >> 32 & 0xffff) + $high * ($b & 0xffff) + (($odd3 & 0xffff) << 16);
        return $word1 << 32 | $word0 & self::HALF;
    }

    /** The product of two words of 32 bits, modulo 2^32. */
    public static function shortProduct(int $a, int $b): int
    {
        return $a * ($b & 0xffff) + (($a * ($b >> 16) & 0xffff) << 16) & self::HALF;
    }

    /** Maps the upper half of a word to [0, $range); $range has at most 31 bits. */
    public static function reduce(int $word, int $range): int
    {
        return ($word >> 32 & self::HALF) * $range >> 32;
    }

    /** The shard of a hash: its place in the line of all hashes, cut into $count pieces. */
    public static function shard(int $hash, int $count): int
    {
        return ($hash >> 32 & self::HALF) * $count + (($hash & self::HALF) * $count >> 32) >> 32;
    }

    /** Whether an odd number of the bits of a word is set. */
    public static function parity(int $word): bool
    {
        $word ^= $word >> 32;
        $word ^= $word >> 16;
        $word ^= $word >> 8;
        $word ^= $word >> 4;
        return (0x6996 >> ($word & 15) & 1) === 1;
    }
}
