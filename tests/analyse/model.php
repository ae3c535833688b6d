<?php

// PHPStan looks at a trait only where a class uses it.

declare(strict_types=1);

use Illuminate\Database\Eloquent\Model;
use KeySieve\Adds\InSets;
use KeySieve\Laravel\AddsKeys;

/** @property string $name */
class Tag extends Model implements InSets
{
    use AddsKeys;

    public function keysInSets(): array
    {
        return ['tags' => $this->name];
    }
}
