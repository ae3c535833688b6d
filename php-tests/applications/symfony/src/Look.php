<?php

declare(strict_types=1);

namespace App;

final class Look
{
    public function __construct(public readonly string $tag)
    {
    }
}
