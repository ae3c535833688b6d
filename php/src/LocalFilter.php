<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Arguments;

if (!class_exists(LocalFilter::class, false)) { // see bootstrap.php
    /**
     * Which keys were there before, in this request or job? Where the extension is not loaded it keeps the keys themselves: never wrong, but
     * with about 80 bytes per key, and its memory grows with them.
     */
    final class LocalFilter implements \Serializable
    {
        use NotSerializable;

        /** @var array<string|int, true> */
        private array $keys;

        /**
         * @param int $keys planned; only checked here
         * @throws \ValueError if out of range: 1 to 10,000,000
         */
        public function __construct(int $keys)
        {
            if (isset($this->keys)) {
                throw new \Error(self::class . ' is constructed already');
            }
            if ($keys < 1 || $keys > 10_000_000) {
                throw new \ValueError(__METHOD__ . "(): Argument #1 (\$keys) must be between 1 and 10000000, $keys given");
            }
            $this->keys = [];
        }

        /** @param string|int $key */
        public function add(string|int|float $key): void
        {
            $this->keys[Arguments::key($key)] = true;
        }

        /**
         * Adds the key. True: it is new.
         *
         * @param string|int $key
         */
        public function addIfNew(string|int|float $key): bool
        {
            $count = count($this->keys);
            $this->keys[Arguments::key($key)] = true;
            return count($this->keys) !== $count;
        }

        /** @param string|int $key */
        public function mayContain(string|int|float $key): bool
        {
            return isset($this->keys[Arguments::key($key)]);
        }
    }
}
