<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * The header page of a snapshot, checked. docs/snapshot_format.md has its fields.
 *
 * @phpstan-type Fields array{
 *     magic: string, format: int, kind: int, hashId: int, headerBytes: int, seed: string, shardBytes: int, shardCount: int, keyCount: int,
 *     hashCount: int, valueBits: int, targetFpr: float, estimatedFpr: float, asOf: int, builtAt: int, validFor: int,
 *     setName: string, keyProfile: string, fileBytes: int, digestsBytes: int, knownAbsent: int, retrievalBytes: int, sampleCount: int,
 *     tablesChecksum: string, tablesDigest: string, publicKey: string, sampledCount: int, signature: string, ...
 * }
 */
final class Header
{
    public const BYTES = 4096;
    public const NAME_RULE = '/\A[a-z0-9][a-z0-9_-]{0,63}\z/';

    private const FORMAT = 1;
    private const HASH_XXH3 = 1;
    private const MOST_SHARDS = 1 << 20;
    private const LONGEST_SHARD = 8192;
    private const MOST_VALUE_BITS = 32;
    private const VALUE_SAMPLE = 64;
    private const STRETCH_BYTES = 65536;
    private const DIGEST_BYTES = 32; // of a signed snapshot, per stretch of shards
    private const LATEST_MOMENT = 10 ** 12;
    private const FIELDS = 'a8magic/vformat/Ckind/ChashId/VheaderBytes/a16seed/VshardBytes/VshardCount/PkeyCount/ChashCount/CvalueBits/x14'
        . '/etargetFpr/eestimatedFpr/PasOf/PbuiltAt/PvalidFor/x32/Z64setName/Z64keyProfile/PfileBytes'
        . '/PshardTableAt/PshardTableBytes/PchecksumsAt/PchecksumsBytes/PshardsAt/PshardsBytes/a8tablesChecksum/PknownAbsent'
        . '/PretrievalSeedsAt/PretrievalSeedsBytes/VretrievalBytes/VsampleCount/@872/PdigestsAt/PdigestsBytes/a32tablesDigest/a32publicKey'
        . '/@1720/VsampledCount/@4024/a64signature';

    /** @param Fields $fields */
    private function __construct(public readonly array $fields, public readonly Kind $kind, public readonly KeyHasher $hasher)
    {
    }

    /** @throws Failure */
    public static function read(File $file): self
    {
        $source = $file->name();
        if ($file->size() < self::BYTES) {
            throw Failure::data("$source: is not a whole snapshot: {$file->size()} bytes, the header alone has 4096");
        }
        $page = $file->read(0, self::BYTES);
        /** @var Fields $fields */
        $fields = unpack(self::FIELDS, $page);
        $fault = self::faultOf($fields, $page);
        if ($fault !== null) {
            throw Failure::data("$source: $fault");
        }
        self::checkKnown($fields, $source);
        $kind = Kind::of($fields['kind'], $fields['shardBytes'], $fields['hashCount'], $fields['valueBits'], $source);
        $header = new self($fields, $kind, new KeyHasher($fields['seed']));
        $header->checkLayout($source);
        if ($file->size() !== $fields['fileBytes']) {
            $what = $file->size() < $fields['fileBytes'] ? 'cut short' : 'too long';
            throw Failure::data("$source: is $what: {$file->size()} bytes instead of {$fields['fileBytes']}");
        }
        return $header;
    }

    /** Bytes of each shard, with its second level. */
    public function stride(): int
    {
        return $this->fields['shardBytes'] + $this->fields['retrievalBytes'];
    }

    /** As many whole shards as one checksum covers. */
    public function shardsPerStretch(): int
    {
        return intdiv(self::STRETCH_BYTES, $this->stride());
    }

    public function stretchCount(): int
    {
        return intdiv($this->fields['shardCount'] + $this->shardsPerStretch() - 1, $this->shardsPerStretch());
    }

    public function seedsAt(): int
    {
        return self::BYTES + 8 * $this->fields['shardCount'];
    }

    public function checksumsAt(): int
    {
        return $this->seedsAt() + ($this->fields['retrievalBytes'] === 0 ? 0 : $this->fields['shardCount'] + 7 & ~7);
    }

    public function digestsAt(): int
    {
        return $this->checksumsAt() + 8 * $this->stretchCount();
    }

    public function digestsBytes(): int
    {
        return $this->fields['digestsBytes'] !== 0 ? self::DIGEST_BYTES * $this->stretchCount() : 0;
    }

    public function shardsAt(): int
    {
        return $this->digestsAt() + $this->digestsBytes() + 4095 & ~4095;
    }

    /** When the set expires, in Unix seconds; 0: never. */
    public function validUntil(): int
    {
        return $this->fields['validFor'] === 0 ? 0 : $this->fields['asOf'] + $this->fields['validFor'];
    }

    public function isExpiredAt(int $now): bool
    {
        return $this->fields['validFor'] !== 0 && $now >= $this->validUntil();
    }

    /** @param Fields $fields */
    private static function faultOf(array $fields, string $page): ?string
    {
        $isMoment = static fn (int $seconds): bool => $seconds >= 0 && $seconds <= self::LATEST_MOMENT;
        return match (true) {
            $fields['magic'] !== 'KEYSIEVE' => 'is not a keysieve snapshot: no magic KEYSIEVE at offset 0',
            $fields['format'] !== self::FORMAT => null, // the rest of the page may mean something else
            strrev(substr($page, 4088)) !== hash('xxh3', substr($page, 0, 4088), true)
                => 'header is damaged: its checksum does not match',
            $fields['hashId'] !== self::HASH_XXH3 => null,
            $fields['headerBytes'] !== self::BYTES => 'header size is not 4096',
            trim($fields['seed'], "\0") === '' => 'seed is zero',
            preg_match(self::NAME_RULE, $fields['setName']) !== 1 => 'set name in the header is not valid',
            !($fields['targetFpr'] >= 1e-9 && $fields['targetFpr'] <= 0.5) => 'target FPR is out of range',
            !($fields['estimatedFpr'] >= 0.0 && $fields['estimatedFpr'] <= 1.0) => 'estimated FPR is out of range',
            !$isMoment($fields['asOf']) || !$isMoment($fields['builtAt']) => 'as_of or built_at is out of range',
            !$isMoment($fields['validFor']) => 'valid_for is out of range',
            default => null,
        };
    }

    /** @param Fields $fields */
    private static function checkKnown(array $fields, string $source): void
    {
        if ($fields['format'] !== self::FORMAT) {
            $advice = $fields['format'] > self::FORMAT
                ? 'a newer version; upgrade this reader, or build with --format ' . self::FORMAT : 'an older version; build it again';
            throw Failure::incompatible("$source: has snapshot format {$fields['format']}, this version reads " . self::FORMAT
                . ": damaged, or written by $advice");
        }
        if ($fields['hashId'] !== self::HASH_XXH3) {
            throw Failure::incompatible("$source: hash {$fields['hashId']} is not known to this version");
        }
    }

    /** @throws Failure */
    private function checkLayout(string $source): void
    {
        $fields = $this->fields;
        $fault = match (true) {
            !in_array($fields['shardBytes'], [1024, 2048, 4096, 8192], true)
                => "shard size of {$fields['shardBytes']} bytes is not 1024, 2048, 4096 or 8192",
            $fields['shardCount'] === 0 => 'has no shards',
            $fields['shardCount'] > self::MOST_SHARDS => "has {$fields['shardCount']} shards, " . self::MOST_SHARDS . ' are the most',
            $fields['retrievalBytes'] % 32 !== 0 || $this->stride() > self::LONGEST_SHARD
                => "second levels of {$fields['retrievalBytes']} bytes are out of range",
            $fields['retrievalBytes'] === 0 && $fields['knownAbsent'] !== 0 => 'has known-absent keys but no second levels',
            $fields['sampleCount'] > 64 || ($fields['knownAbsent'] >= 0 && $fields['sampleCount'] > $fields['knownAbsent']) // else it has 64 bits
                => 'has more known-absent keys in its sample than there are',
            $fields['valueBits'] > self::MOST_VALUE_BITS => "values of {$fields['valueBits']} bits are out of range",
            $fields['valueBits'] !== 0 && !$this->kind::CAN_HAVE_VALUES => $this->kind::NAME . ' cannot have values',
            $fields['sampledCount'] > ($fields['valueBits'] !== 0 ? self::VALUE_SAMPLE : 0) => 'has a sample of more values than there can be',
            $fields['digestsBytes'] === 0 && trim($fields['tablesDigest'] . $fields['publicKey'] . $fields['signature'], "\0") !== ''
                => 'has parts of a signature but no digests',
            array_intersect_key($fields, $this->spans()) != $this->spans()
                => "tables are not where {$fields['shardCount']} shards put them",
            default => null,
        };
        if ($fault !== null) {
            throw Failure::data("$source: $fault");
        }
    }

    /** @return array<string, int> where the tables must be */
    private function spans(): array
    {
        $hasSeeds = $this->fields['retrievalBytes'] !== 0;
        return [
            'fileBytes' => $this->shardsAt() + $this->fields['shardCount'] * $this->stride(),
            'shardTableAt' => self::BYTES,
            'shardTableBytes' => 8 * $this->fields['shardCount'],
            'retrievalSeedsAt' => $hasSeeds ? $this->seedsAt() : 0,
            'retrievalSeedsBytes' => $this->checksumsAt() - $this->seedsAt(),
            'checksumsAt' => $this->checksumsAt(),
            'checksumsBytes' => 8 * $this->stretchCount(),
            'digestsAt' => $this->fields['digestsBytes'] !== 0 ? $this->digestsAt() : 0,
            'digestsBytes' => $this->digestsBytes(),
            'shardsAt' => $this->shardsAt(),
            'shardsBytes' => $this->fields['shardCount'] * $this->stride(),
        ];
    }
}
