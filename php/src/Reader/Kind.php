<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * How the shards of one filter kind answer, and the arithmetic on words of 64 bits that all share: PHP's own product would become a float.
 * docs/filters.md describes the kinds.
 *
 * @phpstan-type Entry array{keys: int, seed: int, width: int, blocks: int, shape: int}
 */
abstract class Kind
{
    /** By the numbers in snapshot headers. */
    private const KINDS = [
        1 => Kind\Bloom::class,
        2 => Kind\PartitionedBloom::class,
        3 => Kind\BlockedBloom::class,
        4 => Kind\SplitBlockBloom::class,
        5 => Kind\Cuckoo::class,
        6 => Kind\Xor3::class,
        7 => Kind\BinaryFuse::class,
        8 => Kind\Ribbon::class,
    ];

    /** The multipliers of docs/filters.md. */
    public const G = 0x9E3779B9 << 32 | 0x7F4A7C15;
    public const A = 0xE7037ED1 << 32 | 0xA0B428DB;
    public const C = 0x589965CC << 32 | 0x75374CC3;

    public const HALF = 0xffffffff;

    /** Each chooses the bit of a key in one lane of its block: modulo 2^32, and so that no product needs more than 64 bits. */
    protected const SALTS = [0x47b6137b, 0x44974d91, -0x77db52a5, -0x5d48d763, 0x705495c7, 0x2df1424b, -0x6103b6b9, 0x5c6bfb31];

    private const INSIDE_SHARDS = 0xA0761D64 << 32 | 0x78BD642F;

    /** @var string in messages and in Info */
    public const NAME = '';

    /** @var array{int, int} the least and the greatest hash_count */
    protected const HASH_COUNTS = [0, 0];

    /** @var bool whether a set of this kind can be a map */
    public const CAN_HAVE_VALUES = false;

    /** @var bool whether its shards have bits, or slots, of which more or fewer are set */
    public const HAS_FILL_RATIO = true;

    /** @param int $valueBits of each key's value; 0: the set is no map */
    final protected function __construct(protected readonly int $shardBytes, protected readonly int $hashCount, protected readonly int $valueBits)
    {
    }

    /** @throws Failure for a kind that is not known, or a hash count that it cannot have */
    public static function of(int $number, int $shardBytes, int $hashCount, int $valueBits, string $source): self
    {
        $class = self::KINDS[$number] ?? throw Failure::incompatible("$source: filter kind $number is not known to this version");
        if ($hashCount < $class::HASH_COUNTS[0] || $hashCount > $class::HASH_COUNTS[1]) {
            throw Failure::data("$source: k = $hashCount is out of range for " . $class::NAME);
        }
        return new $class($shardBytes, $hashCount, $valueBits);
    }

    /**
     * A key's value in a map, which any other key may have at the FPR; 0 in other sets; null: absent.
     *
     * @param string $bytes of the shard, with its second level
     * @param string $entry the bytes of one without a fault, see entry()
     */
    abstract public function find(string $bytes, string $entry, int $hash): ?int;

    /**
     * Why there can be no such entry; null: there can. It looks at the number of keys only to see whether there are any.
     *
     * @param Entry $entry
     */
    public function faultOf(array $entry): ?string
    {
        return $entry['seed'] === 0 && $entry['width'] === 0 && $entry['blocks'] === 0 && $entry['shape'] === 0
            ? null : 'its kind has no seed, width, block count or shape';
    }

    /**
     * Share of bits set, or of slots taken, where HAS_FILL_RATIO.
     *
     * @param Entry $entry
     */
    public function fillRatio(string $bytes, array $entry): float
    {
        $set = 0;
        foreach (count_chars(substr($bytes, 0, $this->shardBytes), 1) as $byte => $count) {
            $set += substr_count(decbin($byte), '1') * $count;
        }
        return $set / (8 * $this->shardBytes);
    }

    /** @return Entry of the shard table, from its 8 bytes */
    final public static function entry(string $bytes): array
    {
        /** @var Entry $entry */
        $entry = unpack('vkeys/Cseed/Cwidth/vblocks/vshape', $bytes);
        return $entry;
    }

    /** Whether the block of split_block_bloom or of a live layer that begins at $at has all bits of a key. */
    public static function blockHas(string $bytes, int $at, int $mixed): bool
    {
        $low = $mixed & self::HALF;
        foreach (self::SALTS as $salt) {
            // The top five bits of the lower half of the product.
            $bit = $low * $salt >> 27 & 31;
            if ((ord($bytes[$at + ($bit >> 3)]) >> ($bit & 7) & 1) === 0) {
                return false;
            }
            $at += 4;
        }
        return true;
    }

    /** The field of $width bits that begins with bit $bit. At most 32 bits. */
    protected static function field(string $bytes, int $bit, int $width): int
    {
        $first = $bit >> 3;
        /** @var array{1: int} $words */
        $words = unpack('P', $bytes, min($first, strlen($bytes) - 8)); // not by word(): some kinds read many fields
        $shift = ($bit & 7) + 8 * max(0, $first - strlen($bytes) + 8);
        return $words[1] >> $shift & (1 << $width) - 1;
    }

    /** The word at an offset, which is little-endian. */
    public static function word(string $bytes, int $at): int
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
        return (substr_count(decbin($word), '1') & 1) === 1;
    }
}
