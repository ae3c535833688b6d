<?php

declare(strict_types=1);

namespace KeySieve;

/** The string cannot be the name of a set. */
class InvalidNameException extends \ValueError implements Exception
{
}
