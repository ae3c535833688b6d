<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Reader\Kind;

/** Draws snapshots that no builder has made: each table and each shard is any that its kind can have, and some that it cannot. */
final class ForgedSnapshot
{
    private const CUCKOO = 5;
    private const XOR = 6;
    private const BINARY_FUSE = 7;
    private const RIBBON = 8;

    private readonly int $kind;
    private readonly int $hashCount;
    private readonly int $shardBytes;
    private readonly int $valueBits; // 0: it is no map

    private function __construct(private readonly Random $random)
    {
        $kinds = self::ofReader(Kind::class, 'KINDS');
        $this->kind = $random->chance(0.2) ? self::RIBBON : $random->of(array_keys($kinds));
        [$least, $greatest] = self::ofReader($kinds[$this->kind], 'HASH_COUNTS');
        // Now and then one less or one more, where extension and package must have the same limits.
        $this->hashCount = $random->chance(0.95) ? $random->between($least, $greatest) : $random->of([$least - 1, $greatest + 1]);
        $this->shardBytes = $random->of([1024, 2048, 4096, 8192]);
        $this->valueBits = $this->kind === self::RIBBON && $random->chance(0.6) ? $random->between(1, 32) : 0;
    }

    /** A private constant of the reader in PHP. */
    private static function ofReader(string $class, string $constant): array
    {
        return (new \ReflectionClassConstant($class, $constant))->getValue();
    }

    public static function draw(Random $random): SnapshotBytes
    {
        return (new self($random))->make();
    }

    private function make(): SnapshotBytes
    {
        $random = $this->random;
        $count = 1 + $random->size($random->chance(0.01) ? Contents::MOST_SHARDS - 1 : 30);
        $second = $random->chance(0.3) ? 32 * $random->between(0, intdiv(8192 - $this->shardBytes, 32)) : 0;
        $snapshot = new SnapshotBytes(str_repeat("\0", 4096));
        $fields = [
            'value_bits' => $this->valueBits, 'magic' => 'KEYSIEVE', 'format' => 1, 'kind' => $this->kind, 'hash_id' => 1, 'header_bytes' => 4096,
            'seed' => $random->bytes(16),
            'shard_bytes' => $this->shardBytes, 'shard_count' => $count, 'hash_count' => $this->hashCount, 'target_fpr' => 0.01,
            'estimated_fpr' => $random->between(0, 1000) / 1000, 'retrieval_bytes' => $second, 'set_name' => 'forged',
            'known_absent' => $second === 0 ? 0 : $random->size(1_000),
        ];
        foreach ($fields as $field => $value) {
            $snapshot->put($field, $value);
        }
        $snapshot->arrange();
        $keys = 0;
        for ($shard = 0; $shard < $count; ++$shard) {
            $entry = ['key_count' => $random->chance(0.2) ? 0 : $random->size(65_535)] + $this->entry();
            $snapshot->putEntry($shard, $entry);
            $keys += $entry['key_count'];
        }
        $snapshot->put('key_count', $random->chance(0.95) ? $keys : $keys + $random->between(-1, 1));
        $snapshot->putShards($this->shards($count * ($this->shardBytes + $second)));
        return $snapshot;
    }

    /** @return array<string, int> within the limits of its kind; narrow ones, because of wide ones nearly every answer is absent */
    private function entry(): array
    {
        $random = $this->random;
        $bits = 8 * $this->shardBytes;
        $seed = $random->between(0, 255);
        switch ($this->kind) {
            case self::CUCKOO:
                return ['seed' => $seed, 'width' => $random->of([0, 2 + $random->size(max(0, $this->hashCount - 2))])];
            case self::XOR:
                $width = 1 + $random->size(31);
                return ['seed' => $seed, 'width' => $width, 'block_count' => 1 + $random->size(intdiv($bits, 3 * $width) - 1)];
            case self::BINARY_FUSE:
                $width = 1 + $random->size(31);
                $most = (int) log($bits / $width / $this->hashCount, 2); // of the longest segments that fit
                $shape = $random->between(0, max(0, min(10, $most)));
                $segments = intdiv($bits, $width) >> $shape;
                return [
                    'seed' => $seed, 'width' => $width, 'shape' => $shape,
                    'block_count' => $random->between(1, max(1, $segments - $this->hashCount + 1)),
                ];
            case self::RIBBON:
                $width = $this->valueBits + $random->size(30);
                $most = $width === 0 ? 1 << 14 : intdiv($this->shardBytes - ($this->valueBits === 0 ? 16 : 32), $width);
                $even = 16 * 0x421 + $random->between(-2, 2) * $random->of([1, 32, 1024]); // nearly
                $levels = $random->chance(0.5) ? $random->between(0, 0x7fff) : $even;
                return ['seed' => $seed, 'width' => $width, 'block_count' => $random->between(8, max(8, $most)), 'shape' => $levels];
            default:
                return [];
        }
    }

    private function shards(int $length): string
    {
        $random = $this->random;
        $bytes = $random->bytes($length);
        return match ($random->weighted(['even' => 3, 'dense' => 4, 'sparse' => 2, 'zero' => 1, 'ones' => 1])) {
            'even' => $bytes,
            'dense' => $bytes | $random->bytes($length) | $random->bytes($length),
            'sparse' => $bytes & $random->bytes($length),
            'zero' => str_repeat("\0", $length),
            'ones' => str_repeat("\xff", $length),
        };
    }
}
