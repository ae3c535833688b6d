<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * A publication of the loader: the snapshot PUBLICATION.ks, and PUBLICATION.live with the keys that were added since. Nothing of the latter
 * is kept: each call reads anew.
 */
final class Published extends Snapshot
{
    private const LIVE_PAGE_BYTES = 4096;
    private const LIVE_SHARD_BYTES = 4096;
    private const ADDED_AT = 128;
    private const LAST_CONFIRMED = 192; // of the control page
    private const LIVE_FIELDS = 'a8magic/Pinstance/Ppublication/Pgeneration/PpublishedAt/a16seed/VshardCount/VshardBytes';

    private readonly int $generation;
    private readonly int $publishedAt;
    private readonly int $liveShards;

    /**
     * @param File $control the page that names it; another may take its place
     * @throws Failure
     */
    public function __construct(
        string $set,
        File $snapshot,
        private readonly File $live,
        public File $control,
        public readonly int $instance,
        public readonly int $number,
    ) {
        if ($live->status['size'] < self::LIVE_PAGE_BYTES) {
            throw Failure::data("$live->path: is cut short: {$live->status['size']} bytes");
        }
        $header = $live->read(0, self::ADDED_AT);
        /**
         * @var array{magic: string, instance: int, publication: int, generation: int, publishedAt: int, seed: string, shardCount: int,
         *     shardBytes: int} $fields
         */
        $fields = unpack(self::LIVE_FIELDS, $header);
        $expected = self::LIVE_PAGE_BYTES + $fields['shardCount'] * self::LIVE_SHARD_BYTES;
        $fault = match (true) {
            $fields['magic'] !== 'KSLIVE01' => 'is not a keysieve live page',
            strrev(substr($header, 64, 8)) !== hash('xxh3', substr($header, 0, 64), true) => 'live page is damaged: its checksum does not match',
            $fields['instance'] !== $instance || $fields['publication'] !== $number => 'live page belongs to another publication',
            $fields['shardBytes'] !== ($fields['shardCount'] === 0 ? 0 : self::LIVE_SHARD_BYTES)
                => "live layer of {$fields['shardCount']} shards of {$fields['shardBytes']} bytes, a size that is not known",
            $live->status['size'] !== $expected
                => 'is ' . ($live->status['size'] < $expected ? 'cut short' : 'too long') . ": {$live->status['size']} bytes instead of $expected",
            default => null,
        };
        if ($fault !== null) {
            throw Failure::data("$live->path: $fault");
        }
        [$this->generation, $this->publishedAt, $this->liveShards] = [$fields['generation'], $fields['publishedAt'], $fields['shardCount']];
        parent::__construct($set, $snapshot);
        if ($fields['seed'] !== $this->fields['seed']) {
            throw Failure::data("$live->path: live page has another seed than its snapshot");
        }
    }

    public function addedKeys(): int
    {
        return $this->liveShards === 0 ? 0 : Kind::word($this->live->read(self::ADDED_AT, 8), 0);
    }

    public function addedMayContain(int $hash): bool
    {
        $mixed = Kind::mix($hash);
        $block = Kind::shard($hash, $this->liveShards) * self::LIVE_SHARD_BYTES + 32 * Kind::reduce($mixed, self::LIVE_SHARD_BYTES >> 5);
        return Kind::blockHas($this->live->read(self::LIVE_PAGE_BYTES + $block, 32), 0, $mixed);
    }

    public function facts(): array
    {
        return [
            'generation' => $this->generation,
            'publication' => $this->number,
            'publishedAt' => $this->publishedAt,
            'lastConfirmedAt' => Kind::word($this->control->read(self::LAST_CONFIRMED, 8), 0),
            'addedKeys' => $this->addedKeys(),
        ];
    }
}
