<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;

/** Follows one set at the place where it is kept. */
interface Source
{
    /**
     * Finds out what answers now. Cheap if nothing has changed. Never throws: what goes wrong becomes the reason.
     *
     * @param bool $looks whether to look for what costs more to see; true at least once per second
     * @return bool whether anything may have changed
     */
    public function follow(int $now, bool $looks): bool;

    public function availability(): Availability;

    /** Why every answer is maybe, or why an older publication answers; empty: neither. */
    public function reason(): string;

    /** What is attached, even if it is expired or bypassed. */
    public function publication(): ?Publication;
}
