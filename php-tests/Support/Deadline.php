<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** Waits for what must happen soon, by asking again and again. */
final class Deadline
{
    /** Longer than the jitter of a reader (half a second), with room for a busy machine. */
    private const SECONDS = 20.0;

    /** @param callable(): bool $condition */
    public static function reaches(callable $condition): bool
    {
        $end = microtime(true) + self::SECONDS;
        do {
            if ($condition()) {
                return true;
            }
            usleep(5_000);
        } while (microtime(true) < $end);
        return false;
    }
}
