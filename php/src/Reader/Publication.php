<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** What answers for a set: a snapshot, and the keys that were added since it was built. */
interface Publication
{
    public function snapshot(): Snapshot;

    /**
     * Whether any key was added. Ask once per call, before the first addedMayContain().
     *
     * @throws Failure
     */
    public function hasAdded(): bool;

    /** @throws Failure */
    public function addedMayContain(int $hash): bool;

    /**
     * What Info says of it. Moments in Unix seconds; 0: none.
     *
     * @return array{generation: int, publication: int, publishedAt: int, lastConfirmedAt: int, addedKeys: int}
     */
    public function facts(): array;
}
