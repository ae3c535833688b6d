<?php

declare(strict_types=1);

namespace KeySieve;

if (!class_exists(InvalidNameException::class, false)) { // see bootstrap.php
    /** The string cannot be the name of a set. */
    class InvalidNameException extends \ValueError implements Exception
    {
    }
}
