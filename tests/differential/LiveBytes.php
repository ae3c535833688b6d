<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Reader\Kind;
use KeySieve\Reader\Snapshot;

/** A live page with its layer, as docs/concurrency.md describes it. */
final class LiveBytes extends SealedBytes
{
    protected const FIELDS = [
        'magic' => [0, 8], 'instance' => [8, 8], 'publication' => [16, 8], 'generation' => [24, 8], 'published_at' => [32, 8],
        'seed' => [40, 16], 'layer_shard_count' => [56, 4], 'layer_shard_bytes' => [60, 4], 'header_checksum' => [64, 8], 'live_keys' => [128, 8],
    ];
    private const SHARD_BYTES = 4096;
    /** From docs/filters.md: each chooses the bit of a key in one lane of its block. */
    private const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

    public static function of(int $instance, int $publication, string $seed, int $shards): self
    {
        $page = new self(str_repeat("\0", 4096 + self::SHARD_BYTES * $shards));
        $page->put('magic', 'KSLIVE01')->put('instance', $instance)->put('publication', $publication)->put('seed', $seed);
        return $page->put('layer_shard_count', $shards)->put('layer_shard_bytes', $shards === 0 ? 0 : self::SHARD_BYTES)->seal();
    }

    public function seal(): static
    {
        return strlen($this->bytes) < 72 ? $this : $this->put('header_checksum', self::checksum(substr($this->bytes, 0, 64)));
    }

    /** As the loader adds a key to a layer that has a shard. */
    public function add(string $key): void
    {
        $hash = unpack('J', hash('xxh3', $key, true, ['secret' => Snapshot::secret($this->bytesOf('seed'))]))[1];
        $mixed = Kind::mix($hash);
        $shardAt = 4096 + Kind::shard($hash, $this->number('layer_shard_count')) * self::SHARD_BYTES;
        $at = $shardAt + 32 * Kind::reduce($mixed, self::SHARD_BYTES >> 5);
        foreach (self::SALTS as $salt) {
            $bit = (Kind::product($mixed & Kind::HALF, $salt) & Kind::HALF) >> 27;
            $this->bytes[$at + ($bit >> 3)] = $this->bytes[$at + ($bit >> 3)] | chr(1 << ($bit & 7));
            $at += 4;
        }
        $this->put('live_keys', $this->number('live_keys') + 1);
    }
}
