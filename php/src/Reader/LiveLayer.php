<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** PUBLICATION.live of a loader: the keys that were added since the snapshot PUBLICATION.ks was built. Nothing of it is kept: each call reads it. */
final class LiveLayer
{
    private const PAGE_BYTES = 4096;
    private const SHARD_BYTES = 4096;
    private const ADDED_AT = 128;
    private const FIELDS = 'a8magic/Pinstance/Ppublication/Pgeneration/PpublishedAt/a16seed/VshardCount/VshardBytes';

    public readonly int $generation;
    public readonly int $publishedAt;
    public readonly string $seed;
    private readonly int $shards;

    /**
     * @param int $instance of the control page that names the publication
     * @throws Failure
     */
    public function __construct(private readonly File $file, public readonly int $instance, public readonly int $publication)
    {
        $header = $file->read(0, 72);
        /**
         * @var array{magic: string, instance: int, publication: int, generation: int, publishedAt: int, seed: string, shardCount: int,
         *     shardBytes: int} $fields
         */
        $fields = unpack(self::FIELDS, $header);
        $fault = match (true) {
            $fields['magic'] !== 'KSLIVE01' => 'is not a keysieve live page',
            strrev(substr($header, 64)) !== hash('xxh3', substr($header, 0, 64), true) => 'live page is damaged: its checksum does not match',
            $fields['instance'] !== $instance || $fields['publication'] !== $publication => 'live page belongs to another publication',
            $fields['shardBytes'] !== ($fields['shardCount'] === 0 ? 0 : self::SHARD_BYTES)
                => "live layer of {$fields['shardCount']} shards of {$fields['shardBytes']} bytes, a size that is not known",
            default => null,
        };
        if ($fault !== null) {
            throw Failure::data("$file->path: $fault");
        }
        $file->checkSize(self::PAGE_BYTES + $fields['shardCount'] * self::SHARD_BYTES);
        [$this->generation, $this->publishedAt, $this->seed, $this->shards] = [$fields['generation'], $fields['publishedAt'], $fields['seed'], $fields['shardCount']];
    }

    /**
     * Number of keys that were added. Ask once per call, before the first mayContain(), which any key may pass then.
     *
     * @throws Failure
     */
    public function addedKeys(): int
    {
        return $this->shards === 0 ? 0 : Kind::word($this->file->read(self::ADDED_AT, 8), 0);
    }

    /** @throws Failure */
    public function mayContain(int $hash): bool
    {
        $mixed = Kind::mix($hash);
        $block = Kind::shard($hash, $this->shards) * self::SHARD_BYTES + 32 * Kind::reduce($mixed, self::SHARD_BYTES >> 5);
        return Kind::blockHas($this->file->read(self::PAGE_BYTES + $block, 32), 0, $mixed);
    }
}
