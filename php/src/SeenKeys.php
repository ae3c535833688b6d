<?php

declare(strict_types=1);

namespace KeySieve;

if (!interface_exists(SeenKeys::class, false)) { // see bootstrap.php
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
}
