<?php

declare(strict_types=1);

namespace App\Entity;

enum Kind: string
{
    case Plain = 'plain';
    case Rare = 'rare';
}
