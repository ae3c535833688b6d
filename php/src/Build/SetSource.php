<?php

declare(strict_types=1);

namespace KeySieve\Build;

use KeySieve\Keys\KeyFunction;

/** A set that an application defines in code: `keysieve:build`, of Symfony and Laravel, builds what implements this. */
interface SetSource
{
    /** 1 to 64 characters a-z, 0-9, _ or -. */
    public function name(): string;

    /** The share of absent keys that get a maybe: 1e-6 to 0.5. */
    public function fpr(): float;

    /** @return ?class-string<KeyFunction> null: the values are the keys */
    public function keyFunction(): ?string;

    /**
     * All of them, now: for example the rows of a query, without a buffer. An exception ends the build, and nothing is replaced.
     *
     * @return iterable<mixed, string|int>
     */
    public function values(): iterable;
}
