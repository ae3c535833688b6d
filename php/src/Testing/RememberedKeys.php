<?php

declare(strict_types=1);

namespace KeySieve\Testing;

use KeySieve\Availability;
use KeySieve\Reader\Arguments;
use KeySieve\SeenKeys;
use KeySieve\UnavailableException;

/**
 * A seen set for the tests of your code: no shared memory, no windows, just the keys that this object was given. Begin it with a key that
 * is new to your code to see how it handles a false "seen". Any availability but Ready lets every call throw.
 */
final class RememberedKeys implements SeenKeys
{
    /** @var array<true> by key */
    private array $seen;

    /** @param array<string|int> $seen */
    public function __construct(array $seen = [], private readonly Availability $availability = Availability::Ready)
    {
        $this->seen = array_fill_keys($seen, true);
    }

    public function addIfNew(string|int $key): bool
    {
        $isNew = !$this->mayContain($key);
        $this->seen[$key] = true;
        return $isNew;
    }

    public function addManyIfNew(iterable $keys): array
    {
        return array_map($this->addIfNew(...), Arguments::keys(Arguments::given($keys, __METHOD__), __METHOD__));
    }

    public function mayContain(string|int $key): bool
    {
        if ($this->availability !== Availability::Ready) {
            throw new UnavailableException('remembered', $this->availability, "the seen set is {$this->availability->value}, as the test wants it");
        }
        return isset($this->seen[$key]);
    }

    public function availability(): Availability
    {
        return $this->availability;
    }
}
