<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** What is asked of a set. */
enum Contents
{
    case Keys;
    case Map; // values, or the names of sets
    case Values;
    case Members;
}
