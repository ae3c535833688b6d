<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * A snapshot whose header and tables have been checked. Its shards are read, and checked, when they are needed. docs/snapshot_format.md has
 * the fields.
 *
 * @phpstan-import-type Entry from Kind
 * @phpstan-type Fields array{
 *     magic: string, format: int, kind: int, hashId: int, headerBytes: int, seed: string, shardBytes: int, shardCount: int, keyCount: int,
 *     hashCount: int, valueBits: int, targetFpr: float, estimatedFpr: float, asOf: int, builtAt: int, validFor: int,
 *     setName: string, keyProfile: string, fileBytes: int, tablesChecksum: string, knownAbsent: int, retrievalBytes: int, sampleCount: int,
 *     sampledCount: int
 * }
 */
final class Snapshot
{
    public const HEADER_BYTES = 4096;
    /** As SnapshotFile::$why. */
    public const EXPIRED = ['expired', 'its snapshot is past valid_for'];

    private const FRONT_BYTES = 2 * self::HEADER_BYTES; // read at once: the header, and the tables of up to 256 shards
    private const FORMAT = 1;
    private const HASH_XXH3 = 1;
    private const SECRET_WORDS = 24;
    private const MOST_SHARDS = 1 << 20;
    private const LONGEST_SHARD = 8192;
    private const MOST_VALUE_BITS = 32;
    private const VALUE_SAMPLE = 64;
    private const LATEST_MOMENT = 10 ** 12;
    private const FIELDS = 'a8magic/vformat/Ckind/ChashId/VheaderBytes/a16seed/VshardBytes/VshardCount/PkeyCount/ChashCount/CvalueBits/x14'
        . '/etargetFpr/eestimatedFpr/PasOf/PbuiltAt/PvalidFor/x32/Z64setName/Z64keyProfile/PfileBytes'
        . '/@320/a8tablesChecksum/PknownAbsent/@352/VretrievalBytes/VsampleCount/@1704/VsampledCount';
    private const BITS = "\x01\x02\x04\x08\x10\x20\x40\x80";
    private const SECOND_LEVEL_MULTIPLIER = 0x8EBC6AF0 << 32 | 0x9C88C6E3;
    private const CHECKED_AT_ONCE = 1024; // shards; to check the entries of more takes longer than the rest of the first lookup
    private const MOST_BYTES_KEPT = 4 << 20;
    private const PAGE_BYTES = 4096; // a string takes up to one more than its bytes

    /** @var array<int, string> the shards that were read last, of all sets of the process together */
    private static array $kept = [];
    private static int $keptBytes = 0;
    private static int $snapshots = 0;
    /** @var array{string, string} the seed that secret() was given last, and its secret: the sets of a store have the same */
    private static array $lastSecret = ['', ''];

    /** @var Fields */
    public readonly array $fields;
    /** @var int bytes of each shard, with its second level */
    public readonly int $stride;
    /** @var int when the set expires, in Unix seconds; PHP_INT_MAX: never */
    public readonly int $validUntil;
    public readonly int $openedAt;
    public ?Failure $damage = null; // found while it was asked
    public readonly Kind $kind;
    /** @var array{secret: string} */
    private readonly array $hashing;
    private readonly string $front; // its bytes before the shards
    private readonly int $seedsAt; // of the second levels, a byte for each shard
    private readonly int $checksumsAt;
    private readonly int $shardsAt;
    private readonly int $firstKept; // where its first shard is among those that are kept

    /**
     * Does not check a signature: loaders do, which have the keys for that.
     *
     * @throws Failure
     */
    public function __construct(string $set, private readonly File $file, public readonly ?LiveLayer $live = null)
    {
        $front = $file->read(0, min($file->status['size'], self::FRONT_BYTES));
        $fields = $this->fields = self::header($file, $front);
        $this->kind = Kind::of($fields['kind'], $fields['shardBytes'], $fields['hashCount'], $fields['valueBits'], $file->path);
        $count = $fields['shardCount'];
        $this->stride = $fields['shardBytes'] + $fields['retrievalBytes'];
        $this->seedsAt = self::HEADER_BYTES + 8 * $count;
        $this->checksumsAt = $this->seedsAt + ($fields['retrievalBytes'] === 0 ? 0 : $count + 7 & ~7);
        $this->shardsAt = $this->checksumsAt + 8 * $count + 4095 & ~4095;
        $fault = $this->faultOfLayout($front);
        if ($fault !== null) {
            throw Failure::data("$file->path: $fault");
        }
        $file->checkSize($fields['fileBytes']);
        if (strlen($front) < $this->shardsAt) {
            $front .= $file->read(strlen($front), $this->shardsAt - strlen($front));
        }
        if (strrev(hash('xxh3', substr($front, self::HEADER_BYTES), true)) !== $fields['tablesChecksum']) {
            throw Failure::data("$file->path: tables are damaged: their checksum does not match (offset 4096 to $this->shardsAt)");
        }
        $this->front = $front;
        $this->openedAt = time();
        $this->validUntil = $fields['validFor'] === 0 ? PHP_INT_MAX : $fields['asOf'] + $fields['validFor'];
        $this->hashing = ['secret' => self::secret($fields['seed'])];
        $this->firstKept = ++self::$snapshots << 32;
        if ($count <= self::CHECKED_AT_ONCE) {
            $this->checkEntries();
        }
        if ($fields['setName'] !== $set) {
            throw Failure::data("$file->path holds set \"{$fields['setName']}\", not \"$set\"");
        }
    }

    /** What the hash takes in place of its own secret: made of the seed of a set. */
    public static function secret(string $seed): string
    {
        if ($seed !== self::$lastSecret[0]) {
            $secret = '';
            for ($word = 0; $word < self::SECRET_WORDS; ++$word) {
                $secret .= strrev(hash('xxh3', $seed, true, ['seed' => $word]));
            }
            self::$lastSecret = [$seed, $secret];
        }
        return self::$lastSecret[1];
    }

    public function hash(string $key): int
    {
        /**
         * @var array{1: int} $words
         * @psalm-suppress InvalidArgument (it knows no option but the seed)
         */
        $words = unpack('J', hash('xxh3', $key, true, $this->hashing));
        return $words[1];
    }

    /**
     * One answer for each key, all of this snapshot: whether it may contain it; of a map what find() says.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return ($isMap is true ? array<TKey, ?int> : array<TKey, bool>)
     * @throws Failure as find()
     * @throws \TypeError for an element that is no key
     */
    public function answers(array $keys, string $method, bool $isMap): array
    {
        if ($this->kind instanceof Kind\SplitBlockBloom && $this->fields['retrievalBytes'] === 0) {
            return $this->probe($keys, $method);
        }
        $answers = [];
        foreach ($keys as $index => $key) {
            $key = is_string($key) || is_int($key) ? (string) $key : throw Arguments::noKey($key, $index, $method);
            $value = $this->find($this->hash($key));
            $answers[$index] = $isMap ? $value : $value !== null;
        }
        return $answers;
    }

    /**
     * answers() of the default kind: what hash(), find(), Kind::mix() and Kind::blockHas() do is written out, because a call takes as long as a step.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return array<TKey, bool>
     * @throws Failure|\TypeError as answers()
     * @psalm-suppress InvalidArrayOffset ($bit & 7 is from 0 to 7)
     */
    private function probe(array $keys, string $method): array
    {
        $hashes = '';
        foreach ($keys as $index => $key) {
            if (!is_string($key)) {
                $key = is_int($key) ? (string) $key : throw Arguments::noKey($key, $index, $method);
            }
            /** @psalm-suppress InvalidArgument (it knows no option but the seed) */
            $hashes .= hash('xxh3', $key, true, $this->hashing);
        }
        /** @var array<int, int> $words */
        $words = unpack('J*', $hashes);
        $word = 0;
        $count = $this->fields['shardCount'];
        $blocks = $this->fields['shardBytes'] >> 5;
        $answers = [];
        foreach ($keys as $index => $_) {
            $hash = $words[++$word];
            $high = $hash >> 32 & 0xffffffff;
            $low = $hash & 0xffffffff;
            $shard = $high * $count + ($low * $count >> 32) >> 32;
            $bytes = self::$kept[$this->firstKept + $shard] ?? self::keep($this->firstKept + $shard, $this->read($shard));
            // Kind::fold() with Kind::INSIDE_SHARDS. That and Kind::SALTS in halves from -2^31 to 2^31, so that no product needs more than 64 bits.
            $first = $low * 0x78bd642f;
            $second = $high * 0x78bd642f;
            $third = $low * -0x5f89e29c;
            $fourth = $high * -0x5f89e29c;
            $middle = ($first >> 32) + ($second & 0xffffffff) + ($third & 0xffffffff);
            $upper = ($middle >> 32) + ($second >> 32) + ($third >> 32) + $low + ($fourth & 0xffffffff);
            $at = (($middle ^ ($upper >> 32) + ($fourth >> 32) + $high) & 0xffffffff) * $blocks >> 32 << 5;
            $low = ($first ^ $upper) & 0xffffffff;
            // Per lane the bit that the top five bits of the lower half of a product name.
            $answers[$index]
                = ($bytes[$at + (($bit = $low * 0x47b6137b >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0"
                && ($bytes[$at + 4 + (($bit = $low * 0x44974d91 >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0"
                && ($bytes[$at + 8 + (($bit = $low * -0x77db52a5 >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0"
                && ($bytes[$at + 12 + (($bit = $low * -0x5d48d763 >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0"
                && ($bytes[$at + 16 + (($bit = $low * 0x705495c7 >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0"
                && ($bytes[$at + 20 + (($bit = $low * 0x2df1424b >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0"
                && ($bytes[$at + 24 + (($bit = $low * -0x6103b6b9 >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0"
                && ($bytes[$at + 28 + (($bit = $low * 0x5c6bfb31 >> 27 & 31) >> 3)] & self::BITS[$bit & 7]) !== "\0";
        }
        return $answers;
    }

    /**
     * The value of a key of a map, which any other key may have at the FPR; 0 of a set. Null: absent.
     *
     * @throws Failure if the key's shard cannot be read, or is damaged
     */
    public function find(int $hash): ?int
    {
        $shard = Kind::shard($hash, $this->fields['shardCount']);
        $bytes = self::$kept[$this->firstKept + $shard] ?? self::keep($this->firstKept + $shard, $this->read($shard));
        $value = $this->kind->find($bytes, substr($this->front, self::HEADER_BYTES + 8 * $shard, 8), $hash);
        return $value !== null && ($this->fields['retrievalBytes'] === 0 || $this->passesSecondLevel($bytes, $shard, $hash)) ? $value : null;
    }

    /** @throws Failure if an entry cannot be, or if the keys of the shards are not as many as the header says */
    public function checkEntries(): void
    {
        $keys = 0;
        $known = []; // of entries that can be: all but how many keys they have
        /** @var array<int, int> $words */
        $words = unpack('P*', substr($this->front, self::HEADER_BYTES, 8 * $this->fields['shardCount']));
        foreach ($words as $number => $word) {
            $keys += $word & 0xffff;
            $likeness = $word & ~0xffff | (int) (($word & 0xffff) === 0);
            if (!isset($known[$likeness])) {
                $this->entry($number - 1);
                $known[$likeness] = true;
            }
        }
        if ($keys !== $this->fields['keyCount']) {
            throw Failure::data(sprintf('%s: shard table counts %d keys, the header %u', $this->file->path, $keys, $this->fields['keyCount']));
        }
    }

    /** @throws Failure unless all shards can be read: it is their mean; null for a kind without a fill ratio */
    public function fillRatio(): ?float
    {
        if (!$this->kind::HAS_FILL_RATIO) {
            return null;
        }
        $sum = 0.0;
        for ($shard = 0; $shard < $this->fields['shardCount']; ++$shard) {
            $sum += $this->kind->fillRatio($this->read($shard), $this->entry($shard));
        }
        return $sum / $this->fields['shardCount'];
    }

    /** Asks for the bit that each key which passes the filter of a set with known-absent keys has in the second level. */
    private function passesSecondLevel(string $bytes, int $shard, int $hash): bool
    {
        $mixed = Kind::fold($hash ^ Kind::product(Kind::G, ord($this->front[$this->seedsAt + $shard])), self::SECOND_LEVEL_MULTIPLIER);
        $window = Kind::word($bytes, $this->fields['shardBytes'] + Kind::reduce($mixed, $this->fields['retrievalBytes'] - 7));
        return Kind::parity($window & Kind::product($mixed, Kind::A));
    }

    /** @throws Failure unless the shard can be read */
    private function read(int $shard): string
    {
        $at = $this->shardsAt + $shard * $this->stride;
        $bytes = $this->file->read($at, $this->stride);
        if (strrev(hash('xxh3', $bytes, true)) !== substr($this->front, $this->checksumsAt + 8 * $shard, 8)) {
            throw Failure::data("{$this->file->path}: shards are damaged: a checksum does not match ($this->stride bytes from offset $at)");
        }
        if ($this->fields['shardCount'] > self::CHECKED_AT_ONCE) {
            $this->entry($shard);
        }
        return $bytes;
    }

    private static function keep(int $place, string $bytes): string
    {
        if (isset(self::$kept[$place])) {
            return $bytes; // two have read it at the same time
        }
        self::$keptBytes += strlen($bytes) + self::PAGE_BYTES;
        while (self::$keptBytes > self::MOST_BYTES_KEPT && ($oldest = array_key_first(self::$kept)) !== null) {
            self::$keptBytes -= isset(self::$kept[$oldest]) ? strlen(self::$kept[$oldest]) + self::PAGE_BYTES : 0; // a signal handler may have
            unset(self::$kept[$oldest]);
        }
        return self::$kept[$place] = $bytes;
    }

    /** @return Entry of a shard, checked */
    private function entry(int $shard): array
    {
        $entry = Kind::entry(substr($this->front, self::HEADER_BYTES + 8 * $shard, 8));
        $fault = $this->kind->faultOf($entry);
        return $fault === null ? $entry : throw Failure::data("{$this->file->path}: entry of shard $shard cannot be: $fault");
    }

    /**
     * @return Fields
     * @throws Failure
     */
    private static function header(File $file, string $front): array
    {
        if ($file->status['size'] < self::HEADER_BYTES) {
            throw Failure::data("$file->path: is not a whole snapshot: {$file->status['size']} bytes, the header alone has 4096");
        }
        /** @var Fields $fields */
        $fields = unpack(self::FIELDS, $front);
        $known = self::FORMAT;
        $advice = $fields['format'] > $known ? "a newer version; upgrade this reader, or build with --format $known" : 'an older version; build it again';
        $failure = match (true) {
            $fields['magic'] !== 'KEYSIEVE' => Failure::data("$file->path: is not a keysieve snapshot: no magic KEYSIEVE at offset 0"),
            $fields['format'] !== $known => Failure::incompatible(
                "$file->path: has snapshot format {$fields['format']}, this version reads $known: damaged, or written by $advice",
            ),
            strrev(substr($front, 4088, 8)) !== hash('xxh3', substr($front, 0, 4088), true)
                => Failure::data("$file->path: header is damaged: its checksum does not match"),
            $fields['hashId'] !== self::HASH_XXH3 => Failure::incompatible("$file->path: hash {$fields['hashId']} is not known to this version"),
            ($fault = self::faultOf($fields)) !== null => Failure::data("$file->path: $fault"),
            default => null,
        };
        return $failure === null ? $fields : throw $failure;
    }

    /** @param Fields $fields */
    private static function faultOf(array $fields): ?string
    {
        return match (true) {
            $fields['headerBytes'] !== self::HEADER_BYTES => 'header size is not 4096',
            trim($fields['seed'], "\0") === '' => 'seed is zero',
            preg_match(AttachedSet::NAMES, $fields['setName']) !== 1 => 'set name in the header is not valid',
            !($fields['targetFpr'] >= 1e-9 && $fields['targetFpr'] <= 0.5) => 'target FPR is out of range',
            !($fields['estimatedFpr'] >= 0.0 && $fields['estimatedFpr'] <= 1.0) => 'estimated FPR is out of range',
            min($fields['asOf'], $fields['builtAt']) < 0 || max($fields['asOf'], $fields['builtAt']) > self::LATEST_MOMENT
                => 'as_of or built_at is out of range',
            $fields['validFor'] < 0 || $fields['validFor'] > self::LATEST_MOMENT => 'valid_for is out of range',
            default => null,
        };
    }

    private function faultOfLayout(string $front): ?string
    {
        $fields = $this->fields;
        $count = $fields['shardCount'];
        return match (true) {
            !in_array($fields['shardBytes'], [1024, 2048, 4096, 8192], true)
                => "shard size of {$fields['shardBytes']} bytes is not 1024, 2048, 4096 or 8192",
            $count === 0 => 'has no shards',
            $count > self::MOST_SHARDS => "has $count shards, " . self::MOST_SHARDS . ' are the most',
            $fields['retrievalBytes'] % 32 !== 0 || $this->stride > self::LONGEST_SHARD
                => "second levels of {$fields['retrievalBytes']} bytes are out of range",
            $fields['retrievalBytes'] === 0 && $fields['knownAbsent'] !== 0 => 'has known-absent keys but no second levels',
            $fields['sampleCount'] > 64 || ($fields['knownAbsent'] >= 0 && $fields['sampleCount'] > $fields['knownAbsent']) // else it has 64 bits
                => 'has more known-absent keys in its sample than there are',
            $fields['valueBits'] > self::MOST_VALUE_BITS => "values of {$fields['valueBits']} bits are out of range",
            $fields['valueBits'] !== 0 && !$this->kind::CAN_HAVE_VALUES => $this->kind::NAME . ' cannot have values',
            $fields['sampledCount'] > ($fields['valueBits'] !== 0 ? self::VALUE_SAMPLE : 0) => 'has a sample of more values than there can be',
            trim(substr($front, 904, 32), "\0") === '' && trim(substr($front, 872, 32) . substr($front, 4024, 64), "\0") !== ''
                => 'has parts of a signature but no public key',
            substr($front, 264, 56) . substr($front, 336, 16) !== $this->places() => "tables are not where $count shards put them",
            default => null,
        };
    }

    /** The fields of the header that say how long the file is, and where its parts are. */
    private function places(): string
    {
        $tableBytes = 8 * $this->fields['shardCount'];
        $shardsBytes = $this->fields['shardCount'] * $this->stride;
        return pack('P3', $this->shardsAt + $shardsBytes, self::HEADER_BYTES, $tableBytes)
            . pack('P4', $this->checksumsAt, $tableBytes, $this->shardsAt, $shardsBytes)
            . pack('P2', $this->fields['retrievalBytes'] === 0 ? 0 : $this->seedsAt, $this->checksumsAt - $this->seedsAt);
    }
}
