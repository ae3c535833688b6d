<?php

declare(strict_types=1);

namespace KeySieve\Adds;

/** Adds keys to sets between two builds. Add first and commit then, so that no host can see a row and call its key absent. */
interface Adds
{
    /**
     * One call for many keys costs one exchange with the store per 1,000 keys, in a cluster one per key. An int counts as its decimal string.
     *
     * @param string|int ...$keys as lookups ask for them, at most 1 MiB each
     * @throws AddException if the store may not have them: do not commit
     * @throws \KeySieve\InvalidNameException if there can be no such set
     * @throws \LengthException for a longer key; then none is added
     */
    public function add(string $set, string|int ...$keys): void;
}
