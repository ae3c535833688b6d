<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Arguments;
use KeySieve\Reader\AttachedSet;

if (!class_exists(Map::class, false)) { // see bootstrap.php
    /**
     * A map: a set whose keys each have a value, a number of 0 to 4,294,967,295. Read by PHP code where the extension is not loaded.
     *
     * CAUTION: a key that is not in the map gets null, or, with the probability of the map's FPR, SOME WRONG VALUE. Only the value of a key of
     * the map is always right. So use a value where a wrong one does no harm, or check it: a category, for example, by its
     * row, which lists its products. `build --fpr` makes wrong values rarer, down to one in a billion. Known-absent keys (`build --known-absent`) never
     * get one.
     *
     * A map may be unable to know: it is missing, expired, bypassed, incompatible or no map at all, or the key was added since the build, or
     * looks as if it had been (rarely). Then $ifUnknown is called, and its result is the answer. Ask your database there, or return a default.
     * What it throws passes through. Map itself never throws UnavailableException, whatever keysieve.on_unavailable says. $ifUnknown must be
     * callable from outside of your class: a closure, or `$this->method(...)`.
     *
     * Set answers about a map's name, too: mayContain() is true for each key that has a value or was added.
     */
    final readonly class Map implements \Serializable
    {
        use NotSerializable;

        /**
         * The key profile is that of Set::__construct().
         *
         * @throws InvalidNameException as Set::__construct()
         */
        public function __construct(public readonly string $name, public readonly ?string $keyProfile = null)
        {
            AttachedSet::named($name, __METHOD__ . '(): Argument #1 ($name) must be');
        }

        /**
         * The key's value; null: it certainly has none. A wrong value is possible for a key that is not in the map: the class says how rarely.
         * $ifUnknown gets the key: an int as an int.
         *
         * @param string|int $key
         * @phpstan-param callable(string|int): ?int $ifUnknown
         * @throws \TypeError if $ifUnknown returns anything else
         */
        public function get(string|int|float $key, callable $ifUnknown): ?int
        {
            $key = is_float($key) ? Arguments::key($key) : $key;
            $value = $this->set()->answers([$key], __METHOD__, $this->keyProfile, false, isMap: true)[0];
            if ($value !== AttachedSet::UNKNOWN) {
                return $value;
            }
            $value = self::call($ifUnknown, $key);
            return self::isValue($value) ? $value : throw self::wrong(__METHOD__, '?int', $value);
        }

        /**
         * The values of those keys that have one, under the keys themselves, in their order: ['apple' => 3, 42 => 7]. As always in PHP, the
         * array key of '42' is 42. All keys are answered by one generation. Wrong values are as rare as with get().
         * $ifUnknown is called at most once. It gets a list of the unknown keys, each once and as an array key, and returns the values of
         * those that have one, under their keys: what PDO::FETCH_KEY_PAIR gives. It may return other keys; they are ignored.
         *
         * @phpstan-param iterable<array-key, string|int> $keys
         * @phpstan-param callable(list<string|int>): array<?int> $ifUnknown
         * @phpstan-return array<int>
         * @throws \TypeError if $ifUnknown returns anything else
         * @throws \ValueError as Membership::mayContainMany()
         */
        public function getMany(iterable $keys, callable $ifUnknown): array
        {
            $keys = is_array($keys) ? $keys : Arguments::given($keys, __METHOD__);
            /** @var array<int|string, int> $values */
            $values = [];
            foreach ($this->set()->answers($keys, __METHOD__, $this->keyProfile, false, isMap: true) as $index => $value) {
                if ($value !== null) {
                    $values[$keys[$index]] = $value;
                }
            }
            $unknown = array_keys($values, AttachedSet::UNKNOWN, true);
            if ($unknown === []) {
                return $values;
            }
            $returned = self::call($ifUnknown, $unknown);
            if (!is_array($returned)) {
                throw self::wrong(__METHOD__, 'an array of ?int', $returned);
            }
            foreach ($unknown as $key) {
                $value = $returned[$key] ?? null;
                if (!self::isValue($value)) {
                    throw self::wrong(__METHOD__, 'an array of ?int', $value, ' for key ' . (is_int($key) ? $key : "\"$key\""));
                }
                $values[$key] = $value;
            }
            return array_filter($values, static fn (?int $value): bool => $value !== null);
        }

        /** Incompatible also if the set is no map. */
        public function availability(): Availability
        {
            return $this->set()->availability($this->keyProfile, isMap: true);
        }

        /** As Set::info(). */
        public function info(): ?Info
        {
            return $this->set()->info($this->keyProfile, isMap: true);
        }

        /** By a function of PHP, which converts an int for a callable that takes a string, and the reverse, like the extension. */
        private static function call(callable $ifUnknown, mixed $argument): mixed
        {
            return array_map($ifUnknown, [$argument])[0];
        }

        /** @phpstan-assert-if-true ?int $value */
        private static function isValue(mixed $value): bool
        {
            return $value === null || is_int($value);
        }

        private static function wrong(string $method, string $expected, mixed $value, string $where = ''): \TypeError
        {
            return new \TypeError("$method(): Argument #2 (\$ifUnknown) must return $expected, " . get_debug_type($value) . " returned$where");
        }

        /** Not a property: see Set::set(). */
        private function set(): AttachedSet
        {
            return AttachedSet::named($this->name, '');
        }
    }
}
