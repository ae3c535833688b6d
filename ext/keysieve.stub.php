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
         *
         * @throws UnavailableException as Set::__construct() says
         */
        public function mayContain(string|int $key): bool;

        /**
         * The same for many keys, all answered by one generation. The result has the array keys of the argument, in its order. An
         * iterator may give each array key only once, or nothing is asked: pass iterator_to_array($keys, false) if it repeats them.
         *
         * @throws \TypeError for an element of any other type: PHP converts none in an array. Then nothing is asked
         * @throws \ValueError for an array key that an iterator gives twice
         * @throws UnavailableException as Set::__construct() says
         *
         * @template TKey of array-key
         * @phpstan-param iterable<TKey, string|int> $keys
         * @phpstan-return array<TKey, bool>
         */
        public function mayContainMany(iterable $keys): array;

        /**
         * The keys worth a query to your database. Array keys are kept, as by array_filter(): pass the result through
         * array_values() where a list is expected, such as PDOStatement::execute().
         *
         * @throws UnavailableException as Set::__construct() says
         *
         * @template TKey of array-key
         * @template TValue of string|int
         * @phpstan-param iterable<TKey, TValue> $keys
         * @phpstan-return array<TKey, TValue>
         */
        public function candidates(iterable $keys): array;
    }

    /** Whether a set answers. Everything but Ready means: every answer is maybe. SeenSet says what a seen set answers then. */
    enum Availability: string
    {
        /** Lookups are answered. */
        case Ready = 'ready';
        /** No such set on this host, nothing published yet, or its files are not trusted. Or a seen set that has no memory yet. */
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
        public function mayContain(string|int $key): bool {}

        /**
         * @template TKey of array-key
         * @phpstan-param iterable<TKey, string|int> $keys
         * @phpstan-return array<TKey, bool>
         * @throws UnavailableException as mayContain()
         */
        public function mayContainMany(iterable $keys): array {}

        /**
         * @template TKey of array-key
         * @template TValue of string|int
         * @phpstan-param iterable<TKey, TValue> $keys
         * @phpstan-return array<TKey, TValue>
         * @throws UnavailableException as mayContain()
         */
        public function candidates(iterable $keys): array {}

        public function availability(): Availability {}

        /**
         * Describes what is attached, even if it is expired or bypassed; null if nothing is. Reads all shards: not for every
         * request.
         */
        public function info(): ?Info {}
    }

    /**
     * A map of this host: a set whose keys each have a value, a number of 0 to 4,294,967,295.
     *
     * CAUTION: a key that is not in the map gets null, or, with the probability of the map's FPR, SOME WRONG VALUE. Only the value of a
     * key of the map is always right. So use a value where a wrong one does no harm, or check it: a
     * category, for example, by its row, which lists its products. `build --fpr` makes wrong values rarer, down to one in a billion. Known-absent keys
     * (`build --known-absent`) never get one.
     *
     * A map may be unable to know: it is missing, expired, bypassed, incompatible or no map at all, or the key was added since the
     * build, or looks as if it had been (rarely). Then $ifUnknown is called, and its result is the answer. Ask your database there,
     * or return a default. What it throws passes through. Map itself never throws UnavailableException, whatever
     * keysieve.on_unavailable says. $ifUnknown must be callable from outside of your class: a closure, or `$this->method(...)`.
     *
     * Set answers about a map's name, too: mayContain() is true for each key that has a value or was added.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Map
    {
        public readonly string $name;
        public readonly ?string $keyProfile;

        /**
         * The key profile is that of Set::__construct(). Cheap, as there.
         *
         * @throws InvalidNameException as Set::__construct()
         */
        public function __construct(string $name, ?string $keyProfile = null) {}

        /**
         * The key's value; null: it certainly has none. A wrong value is possible for a key that is not in the map: the class says how rarely.
         * $ifUnknown gets the key: an int as an int.
         * Cost: one hash and one shard; no allocation, lock, clock or system call.
         *
         * @phpstan-param callable(string|int): ?int $ifUnknown
         * @throws \TypeError if $ifUnknown returns anything else
         */
        public function get(string|int $key, callable $ifUnknown): ?int {}

        /**
         * The values of those keys that have one, under the keys themselves, in their order: ['apple' => 3, 42 => 7]. As always in PHP,
         * the array key of '42' is 42. All keys are answered by one generation. Wrong values are as rare as with get().
         * $ifUnknown is called at most once. It gets a list of the unknown keys, each once and as an array key, and returns the values
         * of those that have one, under their keys: what PDO::FETCH_KEY_PAIR gives. It may return other keys; they are ignored.
         *
         * @phpstan-param iterable<array-key, string|int> $keys
         * @phpstan-param callable(list<string|int>): array<?int> $ifUnknown
         * @phpstan-return array<int>
         * @throws \TypeError if $ifUnknown returns anything else
         * @throws \ValueError as Membership::mayContainMany()
         */
        public function getMany(iterable $keys, callable $ifUnknown): array {}

        /**
         * Incompatible also if the set is no map.
         *
         * @implementation-alias KeySieve\Set::availability
         */
        public function availability(): Availability {}

        /**
         * As Set::info().
         *
         * @implementation-alias KeySieve\Set::info
         */
        public function info(): ?Info {}
    }

    /**
     * What is known of an attached set or map. All moments are in UTC.
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
        /** Bits of each value of a map, 1 to 32; 0: it is no map. */
        public readonly int $valueBits;
        public readonly int $shardCount;
        /** Size of each shard: its filter and, in a set with known-absent keys, the second level behind it. */
        public readonly int $shardBytes;
        /** Size of the snapshot. */
        public readonly int $sizeBytes;
        /** Bits of the whole snapshot, with header and tables, per key. */
        public readonly float $bitsPerKey;
        /** The rate that the build was asked for. */
        public readonly float $targetFalsePositiveRate;
        /** Computed from the snapshot's bits. */
        public readonly float $estimatedFalsePositiveRate;
        /** Share of bits set, or of slots taken; null for a kind in which the number of keys does not change it. */
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
        public readonly int $addedKeys;
        /** Why every answer is maybe, or why one from a folder that was replaced, or an older file, answers; null: neither. */
        public readonly ?string $trouble;

        private function __construct() {}
    }

    /** Tells new keys from seen ones. Type-hint this, and tests can pass a fake. */
    interface SeenKeys
    {
        /** Adds the key. True: it is new. False: it was seen, or is wrongly called seen. Ints count as their decimal strings. */
        public function addIfNew(string|int $key): bool;

        /**
         * The same for many keys, in their order: a key that occurs twice is new once. The result has the array keys of the argument.
         *
         * @template TKey of array-key
         * @phpstan-param iterable<TKey, string|int> $keys
         * @phpstan-return array<TKey, bool>
         */
        public function addManyIfNew(iterable $keys): array;

        /** Adds nothing. False: the key is new. True: maybe it was seen. */
        public function mayContain(string|int $key): bool;

        public function availability(): Availability;
    }

    /**
     * Tells new keys from those that this host has seen before. PHP itself fills the set, in windows of time; keysieve.toml says how
     * long they live. Cheap to construct, as Set.
     *
     * Guarantee, while the set is Ready: per key and window, at most one call of addIfNew() or addManyIfNew() on this host answers true.
     * It does not matter how many processes race, crash or are killed. "Seen" is wrong at the configured rate. "New" is never wrong within a window.
     *
     * While the set is unavailable, its on_unavailable decides: addIfNew() answers true for `new` and false for `seen`. It throws
     * UnavailableException for `throw`, and if this host knows nothing of the set. keysieve.on_unavailable is for Set alone. With
     * keysieve.enabled=0 nothing is added and nothing throws: addIfNew() answers false for `seen`, else true.
     *
     * @strict-properties
     * @not-serializable
     */
    final class SeenSet implements SeenKeys
    {
        public readonly string $name;

        /** @throws InvalidNameException as Set::__construct() */
        public function __construct(string $name) {}

        /**
         * Cost: one hash and one cache line per live filter; no lock, allocation, clock or system call.
         *
         * @throws UnavailableException as the class says
         */
        public function addIfNew(string|int $key): bool {}

        /**
         * After a TypeError nothing was added. If the set becomes unavailable in between, the rest is answered as the class says; if
         * that throws, the keys before have been added all the same.
         *
         * @template TKey of array-key
         * @phpstan-param iterable<TKey, string|int> $keys
         * @phpstan-return array<TKey, bool>
         * @throws UnavailableException as the class says
         */
        public function addManyIfNew(iterable $keys): array {}

        /**
         * True also while the set is unavailable.
         *
         * @throws UnavailableException when addIfNew() would
         */
        public function mayContain(string|int $key): bool {}

        /** Ready, Missing, Incompatible or Disabled. */
        public function availability(): Availability {}

        /** Describes the live windows; null unless Ready. Reads up to 4 MiB of the filters: not for every request. */
        public function info(): ?SeenInfo {}
    }

    /**
     * What is known of a seen set that is Ready. All moments are in UTC, by the loader's clock.
     *
     * @strict-properties
     * @not-serializable
     */
    final class SeenInfo
    {
        /** Begin of the newest window, which takes the keys. */
        public readonly \DateTimeImmutable $windowBeginsAt;
        /** End of the newest window, by plan: it takes keys until the loader opens the next one. */
        public readonly \DateTimeImmutable $windowEndsAt;
        /** Begin of the oldest live window. */
        public readonly \DateTimeImmutable $oldestBeginsAt;
        /** Number of live windows. */
        public readonly int $windows;
        /** Number of filters of all live windows: a window that gets more keys than planned has several. */
        public readonly int $filters;
        /** Keys for which the filters of the newest window are made. */
        public readonly int $windowCapacity;
        /** Keys of the newest window, estimated from the filters' bits: 5 may be 3 or 7. */
        public readonly int $estimatedWindowKeys;
        /** Size of all filters. */
        public readonly int $sizeBytes;
        /** The highest share of new keys wrongly called seen, as long as no filter holds more keys than it is made for. */
        public readonly float $targetFalsePositiveRate;
        /** The share now, estimated from the filters' bits. */
        public readonly float $estimatedFalsePositiveRate;
        /** What addIfNew() does while the set is unavailable: `new`, `seen` or `throw`. */
        public readonly string $onUnavailable;
        /** When the loader last looked at the set; null: never. Windows live longer while it does not. */
        public readonly ?\DateTimeImmutable $lookedAt;

        private function __construct() {}
    }

    /**
     * Which keys were there before? A filter in the memory of this process, for one request or one job: nobody builds or publishes it, and
     * other processes do not see it. 24 bits per key, taken at once and counted by memory_limit.
     *
     * Guarantee: a key that was added is never new again, and mayContain() is true for it. Any other key is wrongly called one of them with a
     * probability of at most 1 in 10,000, while no more than the planned keys are added. With twice as many it is 3 in 100, with three
     * times as many 3 in 10, with ten times as many nearly all. The memory does not grow.
     *
     * @strict-properties
     * @not-serializable
     */
    final class LocalFilter
    {
        /**
         * Draws a seed from the system, so that no client can choose keys that are wrongly called seen.
         *
         * @param int $keys planned, 1 to 10,000,000
         * @throws \ValueError if out of range
         */
        public function __construct(int $keys) {}

        public function add(string|int $key): void {}

        /** Adds the key. True: it is new. False: it was added before, or is wrongly called so. Cost: one hash, one cache line. */
        public function addIfNew(string|int $key): bool {}

        /** False: the key was certainly not added. */
        public function mayContain(string|int $key): bool {}
    }

    /** Implemented by the exceptions of this extension. Arguments of a wrong type throw PHP's own TypeError. */
    interface Exception extends \Throwable
    {
    }

    /** Instead of maybe: see Set::__construct() and keysieve.on_unavailable. Instead of new or seen: see SeenSet. */
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
    function may_contain(string $set, string|int $key): bool {}

    /**
     * Names of the sets that may contain the key, as a list. The key is hashed once per seed. Sets that are not available
     * are included, unless keysieve.on_unavailable is throw.
     *
     * @param string[] $sets
     * @return string[]
     * @throws InvalidNameException
     * @throws UnavailableException if keysieve.on_unavailable says so
     */
    function candidate_sets(array $sets, string|int $key): array {}

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
     * bypass or another directory. Otherwise lookups do so only now and then. The extension unmaps here what was replaced since the
     * last call. php-fpm needs no such call.
     */
    function begin_request(): void {}
}
