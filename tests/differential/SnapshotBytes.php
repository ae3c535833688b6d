<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** A snapshot, as docs/snapshot_format.md describes it. */
final class SnapshotBytes extends SealedBytes
{
    protected const FIELDS = [
        'magic' => [0, 8], 'format' => [8, 2], 'kind' => [10, 1], 'hash_id' => [11, 1], 'header_bytes' => [12, 4], 'seed' => [16, 16],
        'shard_bytes' => [32, 4], 'shard_count' => [36, 4], 'key_count' => [40, 8], 'hash_count' => [48, 1], 'value_bits' => [49, 1],
        'kind_parameters' => [50, 14],
        'target_fpr' => [64, 8], 'estimated_fpr' => [72, 8], 'as_of' => [80, 8], 'built_at' => [88, 8], 'valid_for' => [96, 8],
        'build_id' => [104, 16], 'adds_from' => [120, 16], 'set_name' => [136, 64], 'key_profile' => [200, 64], 'file_bytes' => [264, 8],
        'shard_table_at' => [272, 8], 'shard_table_bytes' => [280, 8], 'checksums_at' => [288, 8], 'checksums_bytes' => [296, 8],
        'shards_at' => [304, 8], 'shards_bytes' => [312, 8], 'tables_checksum' => [320, 8], 'known_absent' => [328, 8],
        'seeds_at' => [336, 8], 'seeds_bytes' => [344, 8], 'retrieval_bytes' => [352, 4], 'sample_count' => [356, 4],
        'sample' => [360, 512], 'contents_digest' => [872, 32], 'public_key' => [904, 32],
        'sampled_hashes' => [936, 512], 'sampled_values' => [1448, 256], 'sampled_count' => [1704, 4],
        'reserved' => [1708, 2316], 'signature' => [4024, 64], 'header_checksum' => [4088, 8],
    ];
    private const ENTRY = ['key_count' => [0, 2], 'seed' => [2, 1], 'width' => [3, 1], 'block_count' => [4, 2], 'shape' => [6, 2]];
    private const HEADER_BYTES = 4096;
    private const LONGEST_STRIDE = 65536; // far longer than it can be
    private const MOST_BYTES = 8 << 20; // of what is laid out again

    public function seal(): static
    {
        $this->sealShards();
        $shardsAt = $this->places()['shards_at'] ?? PHP_INT_MAX;
        if (strlen($this->bytes) >= $shardsAt) {
            $this->put('tables_checksum', self::checksum(substr($this->bytes, self::HEADER_BYTES, $shardsAt - self::HEADER_BYTES)));
        }
        return $this->sealHeader();
    }

    public function sealShards(): static
    {
        $places = $this->places();
        if ($places !== null && strlen($this->bytes) > $places['shards_at']) {
            $shards = substr($this->bytes, $places['shards_at'], $places['shards_bytes']);
            foreach (str_split($shards, $places['stride']) as $index => $shard) {
                $this->putBytes($places['checksums_at'] + 8 * $index, self::checksum($shard));
            }
        }
        return $this;
    }

    public function sealHeader(): static
    {
        $isWhole = strlen($this->bytes) >= self::HEADER_BYTES;
        return $isWhole ? $this->put('header_checksum', self::checksum(substr($this->bytes, 0, 4088))) : $this;
    }

    /** Makes room for its shards, and has the tables where they must be. The bytes of tables and shards stay as far as they fit. */
    public function arrange(): static
    {
        $places = $this->places();
        if ($places !== null && $places['file_bytes'] <= self::MOST_BYTES) {
            $this->bytes = str_pad(substr($this->bytes, 0, $places['file_bytes']), $places['file_bytes'], "\0");
            foreach (array_intersect_key($places, self::FIELDS) as $field => $value) {
                $this->put($field, $value);
            }
        }
        return $this;
    }

    public function damage(Random $random): string
    {
        $entries = $this->places() === null ? 0 : min($this->number('shard_count'), intdiv(strlen($this->bytes) - self::HEADER_BYTES, 8));
        if ($random->chance(0.5) || $entries === 0) {
            $what = parent::damage($random);
            return $random->chance(0.3) && strlen($this->bytes) >= self::HEADER_BYTES ? $what . $this->arrange()->whereTablesAre() : $what;
        }
        $shard = $random->between(0, $entries - 1);
        $field = $random->of(array_keys(self::ENTRY));
        [$at, $size] = self::ENTRY[$field];
        $at += self::HEADER_BYTES + 8 * $shard;
        $value = self::anyValue($random, substr($this->bytes, $at, $size));
        $more = unpack('v', str_pad($value, 2, "\0"))[1] - unpack('v', str_pad(substr($this->bytes, $at, $size), 2, "\0"))[1];
        $this->putBytes($at, $value);
        if ($field === 'key_count' && $random->chance(0.8)) {
            $this->put('key_count', $this->number('key_count') + $more);
        }
        return "$field of shard $shard is 0x" . bin2hex($value);
    }

    /** @param array<string, int> $fields */
    public function putEntry(int $shard, array $fields): void
    {
        foreach ($fields as $field => $value) {
            [$at, $size] = self::ENTRY[$field];
            $this->putBytes(self::HEADER_BYTES + 8 * $shard + $at, substr(pack('P', $value), 0, $size));
        }
    }

    public function putShards(string $bytes): void
    {
        $this->putBytes($this->places()['shards_at'], $bytes);
    }

    private function whereTablesAre(): string
    {
        return ', tables where they must be: ' . strlen($this->bytes) . ' bytes';
    }

    /** @return ?array<string, int> where everything must be; null for numbers with which nothing can be computed */
    private function places(): ?array
    {
        if (strlen($this->bytes) < self::HEADER_BYTES) {
            return null;
        }
        $count = $this->number('shard_count');
        $second = $this->number('retrieval_bytes');
        $stride = $this->number('shard_bytes') + $second;
        if ($count === 0 || $count > 1 << 20 || $stride === 0 || $stride > self::LONGEST_STRIDE) {
            return null;
        }
        $seedsAt = self::HEADER_BYTES + 8 * $count;
        $checksumsAt = $seedsAt + ($second === 0 ? 0 : $count + 7 & ~7);
        $shardsAt = $checksumsAt + 8 * $count + 4095 & ~4095;
        return [
            'shard_table_at' => self::HEADER_BYTES, 'shard_table_bytes' => 8 * $count, 'seeds_at' => $second === 0 ? 0 : $seedsAt,
            'seeds_bytes' => $checksumsAt - $seedsAt, 'checksums_at' => $checksumsAt, 'checksums_bytes' => 8 * $count,
            'shards_at' => $shardsAt, 'shards_bytes' => $count * $stride, 'file_bytes' => $shardsAt + $count * $stride,
            'stride' => $stride,
        ];
    }
}
