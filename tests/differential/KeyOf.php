<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Stands for a Key on its way to a worker, since a Key is not serialised. */
final readonly class KeyOf
{
    /** @param bool $isKept whether the worker uses the same object for these bytes each time */
    public function __construct(public string|int $bytes, public bool $isKept)
    {
    }
}
