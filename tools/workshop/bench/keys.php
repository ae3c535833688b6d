<?php

// Keys for tools/workshop/bench/run and instructions, and the sets that have them.

declare(strict_types=1);

const KEYS_OF_A_PAGE = 20;

function ready(string $name): KeySieve\Set
{
    $set = new KeySieve\Set($name);
    if ($set->availability() !== KeySieve\Availability::Ready) {
        throw new RuntimeException("set $name is not ready");
    }
    return $set;
}

/** A key of 20 bytes; the first N are in the set. A fresh string each time, so that PHP has not hashed it yet. */
function key_number(int $number): string
{
    return 'tag:' . hash('xxh3', pack('P', $number));
}

/** @return string[] the keys of one page: half of them absent on average, the others from anywhere in the set */
function page_keys(int $count): array
{
    $keys = [];
    for ($i = 0; $i < KEYS_OF_A_PAGE; ++$i) {
        $keys[] = key_number(mt_rand(0, 2 * $count - 1));
    }
    return $keys;
}

/** @return iterable<string[]> all keys of the set, by the thousand */
function keys_by_thousand(int $count): iterable
{
    for ($first = 0; $first < $count; $first += 1000) {
        yield array_map(key_number(...), range($first, min($first + 1000, $count) - 1));
    }
}
