<?php

// Each only if it is missing: a script of opcache.preload may compile this file where the extension has them, or where an older one has
// only some.

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\AttachedSet;
use KeySieve\Reader\Keys;

if (!function_exists('KeySieve\may_contain')) {
    /**
     * The one-liner for templates: the same answer as `(new Set($set))->mayContain($key)`.
     *
     * @param string|int $key
     * @throws InvalidNameException
     * @throws UnavailableException if keysieve.on_unavailable says so
     */
    function may_contain(string $set, mixed $key): bool
    {
        $bytes = is_string($key) ? $key : Keys::string($key, __FUNCTION__ . '(): Argument #2 ($key)');
        return AttachedSet::named($set, __FUNCTION__ . '(): Argument #1 ($set) must be')->ask([$bytes], null, null)[0];
    }
}

if (!function_exists('KeySieve\candidate_sets')) {
    /**
     * Names of the sets that may contain the key, as a list. Sets that are not available are included, unless
     * keysieve.on_unavailable is throw.
     *
     * @param string[] $sets
     * @param string|int $key
     * @return string[]
     * @throws InvalidNameException
     * @throws UnavailableException if keysieve.on_unavailable says so
     */
    function candidate_sets(array $sets, mixed $key): array
    {
        $bytes = is_string($key) ? $key : Keys::string($key, __FUNCTION__ . '(): Argument #2 ($key)');
        $asked = [];
        foreach ($sets as $set) {
            if (!is_string($set)) {
                $type = get_debug_type($set);
                throw new \TypeError(__FUNCTION__ . "(): Argument #1 (\$sets) must be an array of strings, $type given");
            }
            $asked[] = AttachedSet::named($set, __FUNCTION__ . '(): Argument #1 ($sets) must be an array of set names, each');
        }
        return array_column(array_filter($asked, static fn (AttachedSet $set): bool => $set->ask([$bytes], null, null)[0]), 'name');
    }
}

if (!function_exists('KeySieve\stats')) {
    /**
     * Counts the lookups of this process per set: calls (a batch counts once), and keys that came back as maybe, as absent, or as
     * maybe because the set was unavailable.
     *
     * @phpstan-return array<string, array{calls: int, maybe: int, absent: int, unavailable: int}>
     */
    function stats(): array
    {
        return AttachedSet::counts();
    }
}

if (!function_exists('KeySieve\begin_request')) {
    /**
     * For a process that serves many requests, such as RoadRunner, Swoole or a queue worker: call it at the start of each. The next
     * lookup of each set then looks at the clock and at the set's files, which takes 1 to 2 µs, and so notices an expiry, the end of a
     * bypass or another directory. Otherwise lookups do so only now and then. The extension unmaps here what was replaced since the
     * last call. php-fpm needs no such call.
     */
    function begin_request(): void
    {
        AttachedSet::beginRequest();
    }
}
