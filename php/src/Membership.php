<?php

declare(strict_types=1);

namespace KeySieve;

if (!interface_exists(Membership::class, false)) { // see bootstrap.php
    /** May a key be in a set? Type-hint this, and tests can pass a fake. */
    interface Membership
    {
        /**
         * False: certainly absent as of this generation. True: maybe, ask your database. Ints count as their decimal strings.
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
}
