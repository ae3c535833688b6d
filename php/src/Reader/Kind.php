<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * How the shards of one filter kind answer. docs/filters.md has the bits of each.
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

    /** @var string in messages and in Info */
    public const NAME = '';

    /** @var array{int, int} the least and the greatest hash_count */
    protected const HASH_COUNTS = [0, 0];

    /** @var bool whether a set of this kind can be a map */
    public const CAN_HAVE_VALUES = false;

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
     * Whether the shard that begins at $at may hold a key. $bytes goes on behind the shard for at least 8 bytes, or ends with it.
     *
     * @param Entry $entry of the shard table, without a fault
     */
    abstract public function mayContain(string $bytes, int $at, array $entry, int $hash): bool;

    /**
     * The same for a map: the value of a key, which any other key may have at the FPR; null: absent.
     *
     * @param Entry $entry of the shard table, without a fault
     */
    public function find(string $bytes, int $at, array $entry, int $hash): ?int
    {
        throw new \LogicException(static::NAME . ' cannot have values');
    }

    /**
     * Why there can be no such entry; null: there can.
     *
     * @param Entry $entry
     */
    public function faultOf(array $entry): ?string
    {
        return $entry['seed'] === 0 && $entry['width'] === 0 && $entry['blocks'] === 0 && $entry['shape'] === 0
            ? null : 'its kind has no seed, width, block count or shape';
    }

    /**
     * Share of the bits that are set, in cuckoo of the slots that are taken; null for `xor`, `binary_fuse` and `ribbon`.
     *
     * @param Entry $entry
     */
    public function fillRatio(string $bytes, int $at, array $entry): ?float
    {
        $set = 0;
        foreach (count_chars(substr($bytes, $at, $this->shardBytes), 1) as $byte => $count) {
            $set += substr_count(decbin($byte), '1') * $count;
        }
        return $set / (8 * $this->shardBytes);
    }

    /** The field of $width bits that begins $bit bits behind $at. At most 32 bits. */
    protected static function field(string $bytes, int $at, int $bit, int $width): int
    {
        $first = $at + ($bit >> 3);
        /** @var array{1: int} $words */
        $words = unpack('P', $bytes, min($first, strlen($bytes) - 8)); // not by Word::at(): some kinds read many fields
        $shift = ($bit & 7) + 8 * max(0, $first - strlen($bytes) + 8);
        return $words[1] >> $shift & (1 << $width) - 1;
    }
}
