<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** A worker has ended, or gives no answer. */
final class Died extends \RuntimeException
{
}
