<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** Tests of faults run a few rounds with the other tests, and all rounds by `tools/test soak`. */
final class Soak
{
    public static function rounds(int $few, int $all): int
    {
        return getenv('KEYSIEVE_SOAK') === false ? $few : $all;
    }

    /** For how long load goes on. */
    public static function seconds(int $few): int
    {
        return (int) (getenv('KEYSIEVE_SOAK') ?: $few);
    }

    /** One line of what `tools/test soak` prints at its end: what was tried, how often, what happened. */
    public static function report(string $line): void
    {
        fwrite(STDERR, "\nsoak: $line\n");
    }
}
