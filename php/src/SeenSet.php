<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Keys;
use KeySieve\Reader\NotSerializable;
use KeySieve\Reader\SetName;
use KeySieve\Reader\UnavailableSeen;

if (!class_exists(SeenSet::class, false)) { // see bootstrap.php
    /**
     * A seen set where the extension is not loaded. It is never Ready, because PHP code has no atomic operations in shared memory. What it
     * answers is decided by KEYSIEVE_SEEN_ON_UNAVAILABLE in the environment, or Reader\Settings::answerSeenSets(): `new` (every key is new),
     * `seen` (every key was seen) or, by default, `throw`. With keysieve.enabled=0 nothing throws.
     */
    final readonly class SeenSet implements SeenKeys, \Serializable
    {
        use NotSerializable;

        /** @throws InvalidNameException as Set::__construct() */
        public function __construct(public readonly string $name)
        {
            SetName::checked($name, __METHOD__ . '(): Argument #1 ($name) must be');
        }

        /**
         * @param string|int $key
         * @throws UnavailableException as the class says
         */
        public function addIfNew(mixed $key): bool
        {
            is_string($key) || Keys::string($key, __METHOD__ . '(): Argument #1 ($key)');
            return UnavailableSeen::isNew($this->name);
        }

        /**
         * @template TKey of array-key
         * @phpstan-param iterable<TKey, string|int> $keys
         * @phpstan-return array<TKey, bool>
         * @throws UnavailableException as the class says
         */
        public function addManyIfNew(iterable $keys): array
        {
            return array_map(fn (string $_): bool => UnavailableSeen::isNew($this->name), Keys::strings(Keys::given($keys, __METHOD__), __METHOD__));
        }

        /**
         * True: maybe.
         *
         * @param string|int $key
         * @throws UnavailableException when addIfNew() would
         */
        public function mayContain(mixed $key): bool
        {
            is_string($key) || Keys::string($key, __METHOD__ . '(): Argument #1 ($key)');
            UnavailableSeen::isNew($this->name); // which throws if it must
            return true;
        }

        /** Missing or Disabled. */
        public function availability(): Availability
        {
            return UnavailableSeen::availability($this->name);
        }

        /** Null, since it is never Ready. */
        public function info(): ?SeenInfo
        {
            return null;
        }
    }
}
