<?php

declare(strict_types=1);

namespace App;

use KeySieve\Symfony\NotBreached;
use KeySieve\Symfony\NotDisposable;

final class Registration
{
    public function __construct(#[NotDisposable] public readonly string $email, #[NotBreached] public readonly string $password)
    {
    }
}
