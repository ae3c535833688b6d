<?php

declare(strict_types=1);

namespace KeySieve\Testing;

use KeySieve\Membership;
use KeySieve\Reader\Arguments;

/**
 * A set for the tests of your code: no files, no shared memory, just these keys. Give it a key that your database does not have to
 * see how your code handles a false positive.
 */
final class ListedKeys implements Membership
{
    /** @var array<true> by key */
    private readonly array $listed;

    /** @param array<string|int> $keys */
    public function __construct(array $keys)
    {
        $this->listed = array_fill_keys($keys, true);
    }

    public function mayContain(string|int $key): bool
    {
        return isset($this->listed[$key]);
    }

    public function mayContainMany(iterable $keys): array
    {
        return array_map($this->mayContain(...), Arguments::keys(Arguments::given($keys, __METHOD__), __METHOD__));
    }

    public function candidates(iterable $keys): array
    {
        $keys = Arguments::given($keys, __METHOD__);
        return array_intersect_key($keys, array_filter(Arguments::keys($keys, __METHOD__), $this->mayContain(...)));
    }
}
