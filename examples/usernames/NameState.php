<?php

declare(strict_types=1);

namespace App;

enum NameState: string
{
    case Free = 'free';
    case Registered = 'registered';
    case Taken = 'taken';
    case Invalid = 'not a name';
}
