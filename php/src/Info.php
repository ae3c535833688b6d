<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Snapshot;

if (!class_exists(Info::class, false)) { // see bootstrap.php
    /** What is known of an attached set or map. All moments are in UTC. */
    final readonly class Info implements \Serializable
    {
        use NotSerializable;

        private function __construct(
            /** Number of the snapshot in its store; 0: published from a file. */
            public int $generation,
            /** Number of the publication on this host; 0: not published. */
            public int $publication,
            /** Filter kind, `split_block_bloom` for example. */
            public string $kind,
            /** Distinct keys of the snapshot. */
            public int $keyCount,
            /** Keys that `build --known-absent` listed. They are absent for certain until they are added. 0: it was built without. */
            public int $knownAbsentCount,
            /** Bits of each value of a map, 1 to 32; 0: it is no map. */
            public int $valueBits,
            public int $shardCount,
            /** Size of each shard: its filter and, in a set with known-absent keys, the second level behind it. */
            public int $shardBytes,
            /** Size of the snapshot. */
            public int $sizeBytes,
            /** Bits of the whole snapshot, with header and tables, per key. */
            public float $bitsPerKey,
            /** The rate that the build was asked for. */
            public float $targetFalsePositiveRate,
            /** Computed from the snapshot's bits. */
            public float $estimatedFalsePositiveRate,
            /** Share of bits set, or of slots taken; null for a kind in which the number of keys does not change it. */
            public ?float $fillRatio,
            /** What `build --key-profile` said; empty: nothing. */
            public string $keyProfile,
            /** When the keys began to be read from their source. */
            public \DateTimeImmutable $asOf,
            public \DateTimeImmutable $builtAt,
            /** When it was published on this host. If it is from a store or a file, when this process has found it. */
            public \DateTimeImmutable $publishedAt,
            /** When the loader last confirmed that the store has nothing newer; null: never. */
            public ?\DateTimeImmutable $lastConfirmedAt,
            /** From then on the set is Expired; null: never. */
            public ?\DateTimeImmutable $validUntil,
            /** Keys added since the snapshot was built. */
            public int $addedKeys,
            /** Why every answer is maybe, or why one from a folder that was replaced, or an older file, answers; null: neither. */
            public ?string $trouble,
        ) {
        }

        /**
         * @internal
         * @throws Reader\Failure
         */
        public static function of(Snapshot $snapshot, int $lastConfirmedAt, ?string $trouble): self
        {
            $snapshot->checkEntries();
            [$fields, $live] = [$snapshot->fields, $snapshot->live];
            $moment = static fn (int $seconds): \DateTimeImmutable => new \DateTimeImmutable("@$seconds");
            $momentOrNull = static fn (int $seconds): ?\DateTimeImmutable => $seconds === 0 ? null : $moment($seconds);
            return new self(
                $live->generation ?? 0,
                $live->publication ?? 0,
                $snapshot->kind::NAME,
                $fields['keyCount'],
                $fields['knownAbsent'],
                $fields['valueBits'],
                $fields['shardCount'],
                $snapshot->stride,
                $fields['fileBytes'],
                $fields['keyCount'] === 0 ? 0.0 : 8 * $fields['fileBytes'] / $fields['keyCount'],
                $fields['targetFpr'],
                $fields['estimatedFpr'],
                $snapshot->fillRatio(),
                $fields['keyProfile'],
                $moment($fields['asOf']),
                $moment($fields['builtAt']),
                $moment($live->publishedAt ?? $snapshot->openedAt),
                $momentOrNull($lastConfirmedAt),
                $momentOrNull($fields['validFor'] === 0 ? 0 : $snapshot->validUntil),
                $live?->addedKeys() ?? 0,
                $trouble,
            );
        }
    }
}
