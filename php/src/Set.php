<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Arguments;
use KeySieve\Reader\AttachedSet;

if (!class_exists(Set::class, false)) { // see bootstrap.php
    /** A set, read by PHP code where the extension is not loaded. Reader\Settings says where sets are looked for. */
    final readonly class Set implements Membership, \Serializable
    {
        use NotSerializable;

        /**
         * A key profile names how keys are normalised. If it is given and the set was built with another, the set is Incompatible for
         * this object. While the set is unavailable, $throw = true throws UnavailableException, false answers maybe, and null does
         * what keysieve.on_unavailable in php.ini says.
         *
         * @throws InvalidNameException unless the name is 1 to 64 characters a-z, 0-9, _ or -, beginning with a letter or digit
         */
        public function __construct(public readonly string $name, public readonly ?string $keyProfile = null, private ?bool $throw = null)
        {
            AttachedSet::named($name, __METHOD__ . '(): Argument #1 ($name) must be');
        }

        /**
         * @param string|int $key
         * @throws UnavailableException if this object or keysieve.on_unavailable says so; never while Bypassed or Disabled
         */
        public function mayContain(string|int|float $key): bool
        {
            return $this->set()->answers([is_float($key) ? Arguments::key($key) : $key], __METHOD__, $this->keyProfile, $this->throw)[0];
        }

        /**
         * @template TKey of array-key
         * @phpstan-param iterable<TKey, string|int> $keys
         * @phpstan-return array<TKey, bool>
         * @throws UnavailableException as mayContain()
         */
        public function mayContainMany(iterable $keys): array
        {
            $keys = is_array($keys) ? $keys : Arguments::given($keys, __METHOD__);
            return $this->set()->answers($keys, __METHOD__, $this->keyProfile, $this->throw);
        }

        /**
         * @template TKey of array-key
         * @template TValue of string|int
         * @phpstan-param iterable<TKey, TValue> $keys
         * @phpstan-return array<TKey, TValue>
         * @throws UnavailableException as mayContain()
         */
        public function candidates(iterable $keys): array
        {
            $keys = is_array($keys) ? $keys : Arguments::given($keys, __METHOD__);
            $candidates = [];
            foreach ($this->set()->answers($keys, __METHOD__, $this->keyProfile, $this->throw) as $index => $mayBeThere) {
                if ($mayBeThere) {
                    $candidates[$index] = $keys[$index];
                }
            }
            return $candidates;
        }

        public function availability(): Availability
        {
            return $this->set()->availability($this->keyProfile);
        }

        /** Describes what is attached, even if it is expired or bypassed; null if nothing is. Reads all shards: not for every request. */
        public function info(): ?Info
        {
            return $this->set()->info($this->keyProfile);
        }

        /** @internal What the extension shows. */
        public function __debugInfo(): array
        {
            return ['name' => $this->name, 'keyProfile' => $this->keyProfile];
        }

        /** Not a property: (array), var_export() and the like would show its bytes and their seed, which is private. */
        private function set(): AttachedSet
        {
            return AttachedSet::named($this->name, '');
        }
    }
}
