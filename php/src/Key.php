<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Keys;
use KeySieve\Reader\NotSerializable;

if (!class_exists(Key::class, false)) { // see bootstrap.php
    /** A key to look up in several sets, or repeatedly. */
    final readonly class Key implements \Serializable
    {
        use NotSerializable;

        public string $bytes;

        /**
         * An int counts as its decimal string, as for Set::mayContain().
         *
         * @param string|int $bytes
         */
        public function __construct(mixed $bytes)
        {
            $this->bytes = is_string($bytes) ? $bytes : Keys::string($bytes, __METHOD__ . '(): Argument #1 ($bytes)', Keys::SCALARS);
        }
    }
}
