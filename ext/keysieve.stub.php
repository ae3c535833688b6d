<?php

/**
 * The PHP interface. keysieve_arginfo.h is generated from this file: run ext/generate_arginfo after every change.
 *
 * @generate-class-entries
 */

namespace KeySieve {

    /** May a key be in a set? Type-hint this, and tests can pass a fake. */
    interface Membership
    {
        /**
         * False: certainly absent as of this generation. True: maybe, ask your database. Ints count as their decimal strings.
         * Cost: one hash and one shard; no allocation, lock, clock or system call.
         */
        public function mayContain(string|int|Key $key): bool;

        /**
         * The same for many keys, all answered by one generation. The result has the array keys of the argument, in its order.
         *
         * @template TKey of array-key
         * @phpstan-param array<TKey, string|int|Key> $keys
         * @phpstan-return array<TKey, bool>
         */
        public function mayContainMany(array $keys): array;

        /**
         * The keys worth a query to your database. Array keys are kept, as by array_filter(): pass the result through
         * array_values() where a list is expected, such as PDOStatement::execute().
         *
         * @template TKey of array-key
         * @template TValue of string|int|Key
         * @phpstan-param array<TKey, TValue> $keys
         * @phpstan-return array<TKey, TValue>
         */
        public function candidates(array $keys): array;
    }

    /** Whether a set answers. Everything but Ready means: every answer is maybe. */
    enum Availability: string
    {
        /** Lookups are answered. */
        case Ready = 'ready';
        /** No such set on this host, nothing published yet, or its files are not trusted. */
        case Missing = 'missing';
        /** Past the valid_for of its snapshot. */
        case Expired = 'expired';
        /** Switched off by `keysieve bypass`. */
        case Bypassed = 'bypassed';
        /** Published by a version that this one does not understand, or built with another key profile. */
        case Incompatible = 'incompatible';
        /** Switched off by keysieve.enabled. */
        case Disabled = 'disabled';
    }

    /**
     * A key to look up in several sets, or repeatedly. It is hashed once per seed.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Key
    {
        public readonly string $bytes;

        /** An int counts as its decimal string, as for Set::mayContain(). */
        public function __construct(string|int $bytes) {}
    }

    /**
     * A set of this host. Cheap to construct: the mapping belongs to the process, and is made at the first lookup.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Set implements Membership
    {
        public readonly string $name;
        public readonly ?string $keyProfile;

        /**
         * A key profile names how keys are normalised. If it is given and the set was built with another, the set is
         * Incompatible for this object. While the set is unavailable, $throw = true throws UnavailableException, false answers
         * maybe, and null does what keysieve.on_unavailable says.
         *
         * @throws InvalidNameException unless the name is 1 to 64 characters a-z, 0-9, _ or -, beginning with a letter or digit
         */
        public function __construct(string $name, ?string $keyProfile = null, ?bool $throw = null) {}

        /** @throws UnavailableException if this object or keysieve.on_unavailable says so; never while Bypassed or Disabled */
        public function mayContain(string|int|Key $key): bool {}

        /**
         * @template TKey of array-key
         * @phpstan-param array<TKey, string|int|Key> $keys
         * @phpstan-return array<TKey, bool>
         * @throws UnavailableException as mayContain()
         */
        public function mayContainMany(array $keys): array {}

        /**
         * @template TKey of array-key
         * @template TValue of string|int|Key
         * @phpstan-param array<TKey, TValue> $keys
         * @phpstan-return array<TKey, TValue>
         * @throws UnavailableException as mayContain()
         */
        public function candidates(array $keys): array {}

        public function availability(): Availability {}

        /**
         * Describes what is attached, even if it is expired or bypassed; null if nothing is. Reads all shards: not for every
         * request.
         */
        public function info(): ?Info {}
    }

    /**
     * What is known of an attached set. All moments are in UTC.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Info
    {
        /** Number of the snapshot in its store; 0: published from a file. */
        public readonly int $generation;
        /** Number of the publication on this host. */
        public readonly int $publication;
        /** Filter kind, `split_block_bloom` for example. */
        public readonly string $kind;
        /** Distinct keys of the snapshot. */
        public readonly int $keyCount;
        /** Keys that `build --known-absent` listed. They are absent for certain until they are added. 0: it was built without. */
        public readonly int $knownAbsentCount;
        public readonly int $shardCount;
        /** Size of each shard: its filter and, in a set with known-absent keys, the second level behind it. */
        public readonly int $shardBytes;
        /** Size of the snapshot. */
        public readonly int $sizeBytes;
        /** Of the whole snapshot, with header and tables. */
        public readonly float $bitsPerKey;
        /** The rate that the build was asked for. */
        public readonly float $targetFalsePositiveRate;
        /** Computed from the snapshot's bits. */
        public readonly float $estimatedFalsePositiveRate;
        /** Share of bits set, in cuckoo of slots taken; null for kinds to which no keys can be added. */
        public readonly ?float $fillRatio;
        /** What `build --key-profile` said; empty: nothing. */
        public readonly string $keyProfile;
        /** When the keys began to be read from their source. */
        public readonly \DateTimeImmutable $asOf;
        public readonly \DateTimeImmutable $builtAt;
        /** When it was published on this host. */
        public readonly \DateTimeImmutable $publishedAt;
        /** When the loader last confirmed that the store has nothing newer; null: never. */
        public readonly ?\DateTimeImmutable $lastConfirmedAt;
        /** From then on the set is Expired; null: never. */
        public readonly ?\DateTimeImmutable $validUntil;
        /** Keys added on this host since the snapshot was built. */
        public readonly int $liveKeys;
        /** Why every answer is maybe, or why an older publication answers; null: neither. */
        public readonly ?string $trouble;

        private function __construct() {}
    }

    /** Implemented by the exceptions of this extension. Arguments of a wrong type throw PHP's own TypeError. */
    interface Exception extends \Throwable
    {
    }

    /** Instead of maybe: see Set::__construct() and keysieve.on_unavailable. */
    class UnavailableException extends \RuntimeException implements Exception
    {
        /** Name of the set. */
        public readonly string $set;
        public readonly Availability $availability;

        public function __construct(string $set, Availability $availability, string $message = "", ?\Throwable $previous = null) {}
    }

    /** The string cannot be the name of a set. */
    class InvalidNameException extends \ValueError implements Exception
    {
    }

    /**
     * The one-liner for templates: the same answer as `(new Set($set))->mayContain($key)`.
     *
     * @throws InvalidNameException
     * @throws UnavailableException if keysieve.on_unavailable says so
     */
    function may_contain(string $set, string|int|Key $key): bool {}

    /**
     * Names of the sets that may contain the key, as a list. The key is hashed once per seed. Sets that are not available
     * are included, unless keysieve.on_unavailable is throw.
     *
     * @param string[] $sets
     * @return string[]
     * @throws InvalidNameException
     * @throws UnavailableException if keysieve.on_unavailable says so
     */
    function candidate_sets(array $sets, string|int|Key $key): array {}

    /**
     * Counts the lookups of this process per set: calls (a batch counts once), and keys that came back as maybe, as absent,
     * or as maybe because the set was unavailable. Only for sets of this request's keysieve.directory and keysieve.owner.
     *
     * @phpstan-return array<string, array{calls: int, maybe: int, absent: int, unavailable: int}>
     */
    function stats(): array {}

    /**
     * For a process that serves many requests, such as RoadRunner, Swoole or a queue worker: call it at the start of each. The next
     * lookup of each set then looks at the clock and at the set's files, which takes 1 to 2 µs, and so notices an expiry, the end of a
     * bypass or another directory. Otherwise lookups do so only now and then. php-fpm needs no such call.
     */
    function begin_request(): void {}
}
