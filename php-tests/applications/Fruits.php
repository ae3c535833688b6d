<?php

declare(strict_types=1);

namespace App;

use KeySieve\Build\SetSource;

/** A set that the application builds. */
final class Fruits implements SetSource
{
    public function name(): string
    {
        return 'fruits';
    }

    public function fpr(): float
    {
        return 0.01;
    }

    public function keyFunction(): ?string
    {
        return null;
    }

    public function values(): iterable
    {
        return ['apple', 'pear'];
    }
}
