<?php

declare(strict_types=1);

namespace KeySieve\Build;

/** A set that could not be written or published: no room, no permission, a folder that another program feeds. What was there before stays. */
final class CannotWrite extends \RuntimeException implements \KeySieve\Exception
{
}
