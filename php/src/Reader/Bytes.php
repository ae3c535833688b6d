<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** The bytes of a snapshot, wherever they are. */
interface Bytes
{
    public function size(): int;

    /** For messages. */
    public function name(): string;

    /** @throws Failure unless all of them can be read */
    public function read(int $offset, int $length): string;
}
