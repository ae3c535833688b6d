<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Reader\Kind\SplitBlockBloom;

/** The live page of a publication, and the keys that the loader adds behind it. Nothing of it is kept: each call reads anew. */
final class LiveLayer
{
    private const PAGE_BYTES = 4096;
    private const SHARD_BYTES = 4096;
    private const KEYS_AT = 128;
    private const FIELDS = 'a8magic/Pinstance/Ppublication/Pgeneration/PpublishedAt/a16seed/VshardCount/VshardBytes';

    public readonly int $generation;
    public readonly int $publishedAt;
    public readonly string $seed;
    private readonly int $shardCount;

    /** @throws Failure */
    public function __construct(private readonly File $file, int $instance, int $publication)
    {
        $name = $file->name();
        if ($file->size() < self::PAGE_BYTES) {
            throw Failure::data("$name: is cut short: {$file->size()} bytes");
        }
        $header = $file->read(0, self::KEYS_AT);
        /**
         * @var array{magic: string, instance: int, publication: int, generation: int, publishedAt: int, seed: string, shardCount: int,
         *     shardBytes: int} $fields
         */
        $fields = unpack(self::FIELDS, $header);
        $expected = self::PAGE_BYTES + $fields['shardCount'] * self::SHARD_BYTES;
        $fault = match (true) {
            $fields['magic'] !== 'KSLIVE01' => 'is not a keysieve live page',
            strrev(substr($header, 64, 8)) !== hash('xxh3', substr($header, 0, 64), true)
                => 'live page is damaged: its checksum does not match',
            $fields['instance'] !== $instance || $fields['publication'] !== $publication => 'live page belongs to another publication',
            $fields['shardBytes'] !== ($fields['shardCount'] === 0 ? 0 : self::SHARD_BYTES)
                => "live layer of {$fields['shardCount']} shards of {$fields['shardBytes']} bytes, a size that is not known",
            $file->size() !== $expected
                => 'is ' . ($file->size() < $expected ? 'cut short' : 'too long') . ": {$file->size()} bytes instead of $expected",
            default => null,
        };
        if ($fault !== null) {
            throw Failure::data("$name: $fault");
        }
        $this->generation = $fields['generation'];
        $this->publishedAt = $fields['publishedAt'];
        $this->seed = $fields['seed'];
        $this->shardCount = $fields['shardCount'];
    }

    public function name(): string
    {
        return $this->file->name();
    }

    /** Number of keys that were added. The bits of so many are seen by every later call. */
    public function keys(): int
    {
        return $this->shardCount === 0 ? 0 : Word::at($this->file->read(self::KEYS_AT, 8), 0);
    }

    public function mayContain(int $hash): bool
    {
        $mixed = Word::mix($hash);
        $block = Word::shard($hash, $this->shardCount) * self::SHARD_BYTES + 32 * Word::reduce($mixed, self::SHARD_BYTES >> 5);
        return SplitBlockBloom::blockHas($this->file->read(self::PAGE_BYTES + $block, 32), 0, $mixed);
    }
}
