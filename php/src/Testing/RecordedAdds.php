<?php

declare(strict_types=1);

namespace KeySieve\Testing;

use KeySieve\Adds\Adds;

/** For the tests of your code: adds nothing, and keeps what it was told to add. */
final class RecordedAdds implements Adds
{
    /** @var list<array{string, list<string>}> a set and its keys for each call */
    public array $calls = [];

    public function add(string $set, string|int ...$keys): void
    {
        $this->calls[] = [$set, array_map(strval(...), array_values($keys))];
    }
}
