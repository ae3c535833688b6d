<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** What the last push knew of the adds log: the log, and the last key in it. Positions are big-endian, all zero: none. */
final class LogWitness
{
    public function __construct(
        public readonly string $begun,
        public readonly string $position,
        public readonly string $lostTo,
        public readonly int $ordinal,
    ) {
    }
}
