<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Keys;
use KeySieve\Reader\NotSerializable;

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
        public function add(mixed $key): void
        {
            $this->keys[self::bytes($key, __METHOD__)] = true;
        }

        /**
         * Adds the key. True: it is new.
         *
         * @param string|int $key
         */
        public function addIfNew(mixed $key): bool
        {
            $count = count($this->keys);
            $this->keys[self::bytes($key, __METHOD__)] = true;
            return count($this->keys) !== $count;
        }

        /** @param string|int $key */
        public function mayContain(mixed $key): bool
        {
            return isset($this->keys[self::bytes($key, __METHOD__)]);
        }

        private static function bytes(mixed $key, string $method): string
        {
            return is_string($key) ? $key : Keys::string($key, "$method(): Argument #1 (\$key)");
        }
    }
}
