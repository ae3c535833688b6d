<?php

declare(strict_types=1);

namespace KeySieve;

if (!class_exists(UnavailableException::class, false)) { // see bootstrap.php
    /** Instead of maybe: see Set::__construct() and keysieve.on_unavailable. */
    class UnavailableException extends \RuntimeException implements Exception
    {
        public function __construct(
            /** Name of the set. */
            public readonly string $set,
            public readonly Availability $availability,
            string $message = '',
            ?\Throwable $previous = null,
        ) {
            parent::__construct($message, 0, $previous);
        }
    }
}
