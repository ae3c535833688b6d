<?php

declare(strict_types=1);

namespace KeySieve\Adds;

use KeySieve\Exception;

/** The store may not have the keys. To add them again is harmless. */
final class AddException extends \RuntimeException implements Exception
{
}
