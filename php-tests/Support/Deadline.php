<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** Waits for what must happen soon, by asking again and again. */
final class Deadline
{
    /** Far longer than anything takes, also on a busy machine: only what never comes waits so long. */
    private const SECONDS = 300.0;

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
