<?php

declare(strict_types=1);

namespace KeySieve\Build;

/** A source whose keys may look like CSV, JSON, a program's messages or binary numbers, or, if they are domains, be public suffixes. */
interface AllowsSuspectKeys extends SetSource
{
}
