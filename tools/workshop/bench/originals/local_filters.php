<?php

// Filters for the read and write sets of transactions, replayed: partitioned next to classic filters, one that lives in a process, and
// one that grows. php local_filters.php KEYS, with the sets bloom and partitioned_bloom of that many numbers, and the seen set growing,
// which is planned for 10,000 keys and followed by keysieved.

declare(strict_types=1);

require __DIR__ . '/../bench.php';

use KeySieve\LocalFilter;
use KeySieve\SeenSet;

const ROUNDS = 11;

/** @return string[] that no other array shares */
function fresh(int $count, string $prefix): array
{
    return array_map(static fn (int $i): string => "$prefix:" . $i * 2_654_435_761 % 4_294_967_296, range(1, $count));
}

/** Median ns per key of each. */
function ns_per_key(array $calls, int $count): array
{
    return array_map(static fn (array $times): float => median($times) / $count, by_turns(ROUNDS, $calls, time_of(...)));
}

$keys = (int) $argv[1];
$asked = fresh(100_000, 'asked');
$rows = [];
$ask = static function (string $kind) use ($asked): callable {
    $set = ready($kind);
    return static function () use ($set, $asked): void {
        foreach ($asked as $key) {
            $set->mayContain($key);
        }
    };
};
$times = ns_per_key(['bloom' => $ask('bloom'), 'partitioned_bloom' => $ask('partitioned_bloom')], count($asked));
foreach ($times as $kind => $ns) {
    $info = ready($kind)->info();
    $measured = count(ready($kind)->candidates(fresh(1_000_000, 'other'))) / 1_000_000;
    $rows[] = [$kind, three_digits($info->bitsPerKey), three_digits(100 * $measured) . ' %', three_digits($ns)];
}

$mine = fresh(100_000, 'mine');
$other = fresh(100_000, 'other');
$empty = static function () use ($mine): void {
    foreach ($mine as $key) {
    }
};
$array = array_fill_keys($mine, true);
$filter = new LocalFilter(100_000);
foreach ($mine as $key) {
    $filter->add($key);
}
$local = ns_per_key([
    'loop' => $empty,
    'array, add' => static function () use ($mine): void {
        $array = [];
        foreach ($mine as $key) {
            if (!isset($array[$key])) {
                $array[$key] = true;
            }
        }
    },
    'filter, add' => static function () use ($mine): void {
        $filter = new LocalFilter(100_000);
        foreach ($mine as $key) {
            $filter->addIfNew($key);
        }
    },
    'array, ask' => static function () use ($array, $other): void {
        foreach ($other as $key) {
            isset($array[$key]);
        }
    },
    'filter, ask' => static function () use ($filter, $other): void {
        foreach ($other as $key) {
            $filter->mayContain($key);
        }
    },
], 100_000);
$bytes = static function (callable $make): int {
    $before = memory_get_usage();
    $kept = $make();
    return memory_get_usage() - $before;
};
$array_bytes = $bytes(static fn (): array => array_fill_keys(fresh(100_000, 'kept'), true));
$filter_bytes = $bytes(static fn (): LocalFilter => new LocalFilter(100_000));
$wrong = array_sum(array_map(static fn (string $key): int => $filter->mayContain($key) ? 1 : 0, $other));
$ratio = static fn (string $call): string => three_digits(($local["array, $call"] - $local['loop']) / ($local["filter, $call"] - $local['loop']));
$ns = static fn (string $call): string => three_digits($local[$call] - $local['loop']);

$growing = new SeenSet('growing');
$grown = [];
$added = 0;
foreach ([10_000, 30_000, 70_000, 150_000] as $count) {
    for (; $added < $count; ++$added) {
        $growing->addIfNew("key $added");
        if ($added % 2_000 === 1_999) {
            usleep(300_000); // keysieved looks ten times a second
        }
    }
    $info = $growing->info();
    $grown[] = [number_format($count), (string) $info->filters, three_digits($info->sizeBytes * 8 / $count), sprintf('%.2g', $info->estimatedFalsePositiveRate)];
}
print_part([], [
    table('Partitioned and classic, ' . number_format($keys) . ' keys at 1 %', ['kind', 'bits per key', 'measured rate', 'mayContain(), ns'], $rows),
    table('In one process, 100,000 keys', ['', 'add, ns', 'ask, ns', 'KB', 'wrong of 100,000'], [
        ['PHP array', $ns('array, add'), $ns('array, ask'), three_digits($array_bytes / 1000), '0'],
        ['LocalFilter', $ns('filter, add'), $ns('filter, ask'), three_digits($filter_bytes / 1000), (string) $wrong],
        ['ratio', $ratio('add'), $ratio('ask'), three_digits($array_bytes / $filter_bytes), ''],
    ]),
    table('A seen set planned for 10,000 keys at 1e-4 that gets more', ['keys', 'filters', 'bits per key', 'estimated rate'], $grown),
], [bars('local_filters', 'Memory of 100,000 keys in one process', 'KB', 'log', [['PHP array', rounded($array_bytes / 1000)], ['LocalFilter', rounded($filter_bytes / 1000)]])]);
