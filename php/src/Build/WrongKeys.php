<?php

declare(strict_types=1);

namespace KeySieve\Build;

/** A list that is not what it should be: nothing is built from it, and what was built before stays. The message shows some of its keys. */
final class WrongKeys extends \RuntimeException implements \KeySieve\Exception
{
}
