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
 *     tablesDigest: string, publicKey: string, sampledCount: int, signature: string, ...
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
        . '/etargetFpr/eestimatedFpr/PasOf/PbuiltAt/PvalidFor/x32/a64setName/a64keyProfile/PfileBytes'
        . '/PshardTableAt/PshardTableBytes/PchecksumsAt/PchecksumsBytes/PshardsAt/PshardsBytes/PtablesChecksum/PknownAbsent'
        . '/PretrievalSeedsAt/PretrievalSeedsBytes/VretrievalBytes/VsampleCount/@872/PdigestsAt/PdigestsBytes/a32tablesDigest/a32publicKey'
        . '/@1720/VsampledCount/@4024/a64signature';

    private function __construct(
        public readonly string $setName,
        public readonly string $keyProfile,
        public readonly Kind $kind,
        public readonly KeyHasher $hasher,
        public readonly int $shardBytes,
        public readonly int $retrievalBytes,
        public readonly int $shardCount,
        public readonly int $keyCount,
        public readonly int $knownAbsent,
        public readonly float $targetFpr,
        public readonly float $estimatedFpr,
        public readonly int $asOf,
        public readonly int $builtAt,
        public readonly int $validFor,
        public readonly int $fileBytes,
        public readonly string $tablesChecksum,
        private readonly bool $isSigned,
        /** Of each value of a map; 0: it is no map. */
        public readonly int $valueBits,
    ) {
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
        $header = new self(
            self::text($fields['setName']),
            self::text($fields['keyProfile']),
            Kind::of($fields['kind'], $fields['shardBytes'], $fields['hashCount'], $fields['valueBits'], $source),
            new KeyHasher($fields['seed']),
            $fields['shardBytes'],
            $fields['retrievalBytes'],
            $fields['shardCount'],
            $fields['keyCount'],
            $fields['knownAbsent'],
            $fields['targetFpr'],
            $fields['estimatedFpr'],
            $fields['asOf'],
            $fields['builtAt'],
            $fields['validFor'],
            $fields['fileBytes'],
            strrev(substr($page, 320, 8)),
            $fields['digestsBytes'] !== 0,
            $fields['valueBits'],
        );
        $header->checkLayout($fields, $source);
        if ($file->size() !== $header->fileBytes) {
            $what = $file->size() < $header->fileBytes ? 'cut short' : 'too long';
            throw Failure::data("$source: is $what: {$file->size()} bytes instead of $header->fileBytes");
        }
        return $header;
    }

    /** Bytes of each shard, with its second level. */
    public function stride(): int
    {
        return $this->shardBytes + $this->retrievalBytes;
    }

    /** As many whole shards as one checksum covers. */
    public function shardsPerStretch(): int
    {
        return intdiv(self::STRETCH_BYTES, $this->stride());
    }

    public function stretchCount(): int
    {
        return intdiv($this->shardCount + $this->shardsPerStretch() - 1, $this->shardsPerStretch());
    }

    public function seedsAt(): int
    {
        return self::BYTES + 8 * $this->shardCount;
    }

    public function checksumsAt(): int
    {
        return $this->seedsAt() + ($this->retrievalBytes === 0 ? 0 : $this->shardCount + 7 & ~7);
    }

    public function digestsAt(): int
    {
        return $this->checksumsAt() + 8 * $this->stretchCount();
    }

    public function digestsBytes(): int
    {
        return $this->isSigned ? self::DIGEST_BYTES * $this->stretchCount() : 0;
    }

    public function shardsAt(): int
    {
        return $this->digestsAt() + $this->digestsBytes() + 4095 & ~4095;
    }

    /** When the set expires, in Unix seconds; 0: never. */
    public function validUntil(): int
    {
        return $this->validFor === 0 ? 0 : $this->asOf + $this->validFor;
    }

    public function isExpiredAt(int $now): bool
    {
        return $this->validFor !== 0 && $now >= $this->validUntil();
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
            preg_match(self::NAME_RULE, self::text($fields['setName'])) !== 1 => 'set name in the header is not valid',
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

    /** @param Fields $fields */
    private function checkLayout(array $fields, string $source): void
    {
        $fault = match (true) {
            !in_array($this->shardBytes, [1024, 2048, 4096, 8192], true)
                => "shard size of $this->shardBytes bytes is not 1024, 2048, 4096 or 8192",
            $this->shardCount === 0 => 'has no shards',
            $this->shardCount > self::MOST_SHARDS => "has $this->shardCount shards, " . self::MOST_SHARDS . ' are the most',
            $this->retrievalBytes % 32 !== 0 || $this->stride() > self::LONGEST_SHARD
                => "second levels of $this->retrievalBytes bytes are out of range",
            $this->retrievalBytes === 0 && $this->knownAbsent !== 0 => 'has known-absent keys but no second levels',
            $fields['sampleCount'] > 64 || ($this->knownAbsent >= 0 && $fields['sampleCount'] > $this->knownAbsent) // else it has 64 bits
                => 'has more known-absent keys in its sample than there are',
            $this->valueBits > self::MOST_VALUE_BITS => "values of $this->valueBits bits are out of range",
            $this->valueBits !== 0 && !$this->kind::CAN_HAVE_VALUES => $this->kind::NAME . ' cannot have values',
            $fields['sampledCount'] > ($this->valueBits !== 0 ? self::VALUE_SAMPLE : 0) => 'has a sample of more values than there can be',
            !$this->isSigned && trim($fields['tablesDigest'] . $fields['publicKey'] . $fields['signature'], "\0") !== ''
                => 'has parts of a signature but no digests',
            array_intersect_key($fields, $this->spans()) != $this->spans()
                => "tables are not where $this->shardCount shards put them",
            default => null,
        };
        if ($fault !== null) {
            throw Failure::data("$source: $fault");
        }
    }

    public static function text(string $padded): string
    {
        return explode("\0", $padded, 2)[0];
    }

    /** @return array<string, int> where the tables must be */
    private function spans(): array
    {
        $hasSeeds = $this->retrievalBytes !== 0;
        return [
            'fileBytes' => $this->shardsAt() + $this->shardCount * $this->stride(),
            'shardTableAt' => self::BYTES,
            'shardTableBytes' => 8 * $this->shardCount,
            'retrievalSeedsAt' => $hasSeeds ? $this->seedsAt() : 0,
            'retrievalSeedsBytes' => $this->checksumsAt() - $this->seedsAt(),
            'checksumsAt' => $this->checksumsAt(),
            'checksumsBytes' => 8 * $this->stretchCount(),
            'digestsAt' => $this->isSigned ? $this->digestsAt() : 0,
            'digestsBytes' => $this->digestsBytes(),
            'shardsAt' => $this->shardsAt(),
            'shardsBytes' => $this->shardCount * $this->stride(),
        ];
    }
}
