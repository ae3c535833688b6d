<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * A snapshot whose header and tables have been checked. Its shards are read, and checked, when they are needed.
 *
 * @phpstan-import-type Entry from Kind
 */
final class Snapshot
{
    private const ENTRY = 'vkeys/Cseed/Cwidth/vblocks/vshape';
    private const SECOND_LEVEL_MULTIPLIER = 0x8EBC6AF0 << 32 | 0x9C88C6E3;
    private const CHECKED_AT_ONCE = 1024; // shards; to check the entries of more takes longer than the rest of the first lookup

    private readonly Kind $kind;
    private readonly string $entries;
    private readonly string $seeds; // of the second levels, a byte for each shard; empty without known-absent keys
    private readonly string $checksums;
    private readonly int $perStretch;
    private readonly int $stride;
    private readonly int $perPiece;
    private readonly int $firstPiece;

    /** @throws Failure */
    private function __construct(private readonly File $file, public readonly Header $header)
    {
        $this->kind = $header->kind;
        $tables = $file->read(Header::BYTES, $header->shardsAt() - Header::BYTES);
        if (strrev(hash('xxh3', $tables, true)) !== $header->fields['tablesChecksum']) {
            throw Failure::data("{$file->name()}: tables are damaged: their checksum does not match (offset 4096 to {$header->shardsAt()})");
        }
        $this->entries = substr($tables, 0, 8 * $header->fields['shardCount']);
        $hasSeeds = $header->fields['retrievalBytes'] !== 0;
        $this->seeds = $hasSeeds ? substr($tables, $header->seedsAt() - Header::BYTES, $header->fields['shardCount']) : '';
        $this->checksums = substr($tables, $header->checksumsAt() - Header::BYTES, 8 * $header->stretchCount());
        $this->perStretch = $header->shardsPerStretch();
        $this->stride = $header->stride();
        $this->perPiece = Pieces::haveRoomFor($this->stride * $header->fields['shardCount']) ? $this->perStretch : 1;
        $this->firstPiece = Pieces::newSnapshot();
        if ($header->fields['shardCount'] <= self::CHECKED_AT_ONCE) {
            $this->checkEntries();
        }
    }

    /**
     * The snapshot of a set. Whether it is signed, and by whom, is checked by loaders, which have the keys for it.
     *
     * @throws Failure
     */
    public static function of(string $set, File $file): self
    {
        $header = Header::read($file);
        $snapshot = new self($file, $header);
        if ($header->fields['setName'] !== $set) {
            throw Failure::data("{$file->name()} holds set \"{$header->fields['setName']}\", not \"$set\"");
        }
        return $snapshot;
    }

    /** @throws Failure if the key's shard cannot be read, or is damaged */
    public function mayContain(int $hash): bool
    {
        [$bytes, $at, $shard, $entry] = $this->shardOf($hash);
        return $this->kind->mayContain($bytes, $at, $entry, $hash) && $this->passesSecondLevel($bytes, $at, $shard, $hash);
    }

    /**
     * The value of a key of a map, which any other key may have at the FPR; null: absent.
     *
     * @throws Failure as mayContain()
     */
    public function find(int $hash): ?int
    {
        [$bytes, $at, $shard, $entry] = $this->shardOf($hash);
        $value = $this->kind->find($bytes, $at, $entry, $hash);
        return $value !== null && $this->passesSecondLevel($bytes, $at, $shard, $hash) ? $value : null;
    }

    /** @throws Failure if an entry cannot be, or if the keys of the shards are not as many as the header says */
    public function checkEntries(): void
    {
        $keys = 0;
        $known = []; // of entries that can be, all but their keys
        for ($at = 0; $at < 8 * $this->header->fields['shardCount']; $at += 8) {
            $keys += ord($this->entries[$at]) | ord($this->entries[$at + 1]) << 8;
            $rest = substr($this->entries, $at + 2, 6);
            if (!isset($known[$rest])) {
                $this->entry($at >> 3);
                $known[$rest] = true;
            }
        }
        if ($keys !== $this->header->fields['keyCount']) {
            throw Failure::data(sprintf('%s: shard table counts %d keys, the header %u', $this->file->name(), $keys, $this->header->fields['keyCount']));
        }
    }

    public function kindName(): string
    {
        return $this->kind::NAME;
    }

    public function bitsPerKey(): float
    {
        return $this->header->fields['keyCount'] === 0 ? 0.0 : 8 * $this->header->fields['fileBytes'] / $this->header->fields['keyCount'];
    }

    /**
     * The mean over all shards, which are read for it; null for `xor`, `binary_fuse` and `ribbon`.
     *
     * @throws Failure
     */
    public function fillRatio(): ?float
    {
        $sum = 0.0;
        $bytes = '';
        for ($shard = 0; $shard < $this->header->fields['shardCount']; ++$shard) {
            if ($shard % $this->perStretch === 0) {
                $bytes = $this->readStretch(intdiv($shard, $this->perStretch));
            }
            $entry = $this->entry($shard);
            $ratio = $this->kind->fillRatio($bytes, $shard % $this->perStretch * $this->stride, $entry);
            if ($ratio === null) {
                return null;
            }
            $sum += $ratio;
        }
        return $sum / $this->header->fields['shardCount'];
    }

    /** @return array{string, int, int, Entry} bytes in which the shard of a key begins at an offset, its number, and its entry */
    private function shardOf(int $hash): array
    {
        $shard = Word::shard($hash, $this->header->fields['shardCount']);
        $piece = intdiv($shard, $this->perPiece);
        $bytes = Pieces::find($this->firstPiece + $piece) ?? $this->readPiece($piece);
        /** @var Entry $entry */
        $entry = unpack(self::ENTRY, $this->entries, 8 * $shard);
        return [$bytes, $shard % $this->perPiece * $this->stride, $shard, $entry];
    }

    /** Asks for the bit that each key which passes the filter of a set with known-absent keys has in the second level. */
    private function passesSecondLevel(string $bytes, int $at, int $shard, int $hash): bool
    {
        if ($this->seeds === '') {
            return true;
        }
        $fields = $this->header->fields;
        $mixed = Word::fold($hash ^ Word::product(Word::G, ord($this->seeds[$shard])), self::SECOND_LEVEL_MULTIPLIER);
        $window = Word::at($bytes, $at + $fields['shardBytes'] + Word::reduce($mixed, $fields['retrievalBytes'] - 7));
        return Word::parity($window & Word::product($mixed, Word::A));
    }

    /**
     * A piece of one snapshot is what one checksum covers, or, where not all of these could be kept, a single shard.
     *
     * @throws Failure
     */
    private function readPiece(int $piece): string
    {
        $first = $piece * $this->perPiece;
        $stretch = intdiv($first, $this->perStretch);
        $bytes = $this->readStretch($stretch);
        if ($this->perPiece < $this->perStretch) {
            $bytes = substr($bytes, ($first - $stretch * $this->perStretch) * $this->stride, $this->perPiece * $this->stride);
        }
        for ($shard = $first; $shard < min($first + $this->perPiece, $this->header->fields['shardCount']); ++$shard) {
            $this->entry($shard);
        }
        return Pieces::keep($this->firstPiece + $piece, $bytes);
    }

    /** Reads the shards that one checksum covers. */
    private function readStretch(int $stretch): string
    {
        $first = $stretch * $this->perStretch;
        $end = min($first + $this->perStretch, $this->header->fields['shardCount']);
        $at = $this->header->shardsAt() + $first * $this->stride;
        $bytes = $this->file->read($at, ($end - $first) * $this->stride);
        if (strrev(hash('xxh3', $bytes, true)) !== substr($this->checksums, 8 * $stretch, 8)) {
            $length = strlen($bytes);
            throw Failure::data("{$this->file->name()}: shards are damaged: a checksum does not match ($length bytes from offset $at)");
        }
        return $bytes;
    }

    /** @return Entry of a shard, checked */
    private function entry(int $shard): array
    {
        /** @var Entry $entry */
        $entry = unpack(self::ENTRY, $this->entries, 8 * $shard);
        $fault = $this->kind->faultOf($entry);
        if ($fault !== null) {
            throw Failure::data("{$this->file->name()}: entry of shard $shard cannot be: $fault");
        }
        return $entry;
    }
}
