<?php

// Cost of lookups in sets of growing size, in a growing number of sets, and in a growing number of workers.
// php growth.php "SIZE..." "NUMBER OF SETS..." SECONDS; the sets are those of the part `growth` of tools/workshop/bench/run.

declare(strict_types=1);

require __DIR__ . '/readers.php';

const REQUESTS = 500;      // in one round; their strings fit the second-level cache
const ROUNDS = 41;
const SET_KEYS = 1000;     // in each of many sets
const LOOKUPS = 20_000;    // in one round over many sets
const WORKERS = [1, 2, 4, 8, 16, 32, 64];

/** @return string[][] */
function fresh_requests(int $size): array
{
    return array_map(fn (): array => request($size), range(1, REQUESTS));
}

/** @return array<string, float> ns per key by each way to ask, the loop's own cost included */
function lookup_cost(KeySieve\Set $set, int $size): array
{
    $ways = [
        'single calls' => function (array $requests) use ($set): void {
            foreach ($requests as $keys) {
                foreach ($keys as $key) {
                    $set->mayContain($key);
                }
            }
        },
        'batch of 20' => function (array $requests) use ($set): void {
            foreach ($requests as $keys) {
                $set->mayContainMany($keys);
            }
        },
    ];
    return array_map(median(...), by_turns(ROUNDS, $ways, function (callable $ask) use ($size): float {
        $requests = fresh_requests($size);
        return time_of(fn () => $ask($requests)) / (REQUESTS * KEYS_OF_A_PAGE);
    }));
}

/** @param int[] $sizes */
function growth_with_size(array $sizes): array
{
    $rows = $lines = [];
    foreach (['split_block_bloom', 'ribbon'] as $kind) {
        foreach ($sizes as $size) {
            $first = time_of(fn () => ready("$kind-$size"));
            $set = ready("$kind-$size");
            $cost = lookup_cost($set, $size);
            $info = $set->info();
            $figures = [$info->sizeBytes / 1048576, $info->bitsPerKey, $first / 1000, ...array_values($cost)];
            $rows[] = [$kind, number_format($size), ...array_map(three_digits(...), $figures)];
            foreach ($cost as $way => $ns) {
                $lines["$kind, $way"][] = [$size, $ns];
            }
        }
    }
    return [
        table('Size of a set', ['kind', 'keys', 'MiB', 'bits/key', 'first call, µs', 'single call, ns', 'in a batch of 20, ns per key'], $rows),
        lines('growth_size', 'A lookup in PHP against the size of the set', ['keys in the set', 'log'], ['ns per key', 'linear'], $lines,
            'Fresh strings, half of them members; the call and the loop are included.'),
    ];
}

/** @return float[] of a process that has attached nothing yet: ns of a lookup, µs of a first one, mappings, KiB of its own per set */
function many_sets_cost(int $count): array
{
    $sets = $first = $ns = [];
    $private_kib = fn (): int => memory_kib('Private_Dirty') + memory_kib('VmPTE', 'status');
    $before = $private_kib();
    for ($number = 1; $number <= $count; ++$number) {
        $sets[] = $set = new KeySieve\Set("small-$number");
        $first[] = time_of(fn () => $set->mayContain('0')) / 1000;
    }
    $private = $private_kib() - $before;
    for ($round = 0; $round < ROUNDS; ++$round) {
        $asked = $keys = [];
        for ($i = 0; $i < LOOKUPS; ++$i) {
            $asked[] = $sets[mt_rand(0, $count - 1)];
            $keys[] = (string) mt_rand(1, 2 * SET_KEYS);
        }
        $ns[] = time_of(function () use ($asked, $keys): void {
            foreach ($keys as $i => $key) {
                $asked[$i]->mayContain($key);
            }
        }) / LOOKUPS;
    }
    $mappings = substr_count(file_get_contents('/proc/self/maps'), 'keysieve.');
    return [median($ns), median($first), $mappings, $private / $count];
}

/** @param int[] $counts */
function growth_with_sets(array $counts): array
{
    $rows = $points = [];
    foreach ($counts as $count) {
        [[$ns, $first, $mappings, $private]] = side_by_side([fn (): array => many_sets_cost($count)]);
        $rows[] = [number_format($count), three_digits($ns), three_digits($first), number_format($mappings), three_digits($private)];
        $points[] = [$count, $ns];
    }
    return [
        table('Number of sets, of 1,000 keys each, asked in random order',
            ['sets', 'single call, ns', 'first call, µs', 'mappings', 'memory of a worker per set, KiB'], $rows),
        lines('growth_sets', 'A lookup in PHP against the number of sets', ['sets', 'log'], ['ns per lookup', 'linear'], ['split_block_bloom' => $points],
            'Sets of 1,000 keys, asked in random order; the call and the loop are included.'),
    ];
}

/** Requests of 20 keys per second that this process answers; all workers start at the same moment. */
function busy_worker(int $size, int $begin, float $seconds): array
{
    $set = ready("split_block_bloom-$size");
    $requests = fresh_requests($size);
    $memory = [];
    time_nanosleep(0, max(0, $begin - hrtime(true)));
    for ($answered = $took = 0; $took < $seconds; $answered += REQUESTS) {
        foreach ($requests as $keys) {
            $set->mayContainMany($keys);
        }
        $took = (hrtime(true) - $begin) / SECOND;
        if ($memory === [] && $took > $seconds / 2) { // while all others still run
            $memory = ['rss' => memory_kib('Rss'), 'pss' => memory_kib('Pss')];
        }
    }
    return ['rate' => $answered / $took] + $memory;
}

function growth_with_workers(int $size, float $seconds): array
{
    $rows = $points = [];
    foreach (WORKERS as $workers) {
        $begin = hrtime(true) + SECOND / 2;
        $results = side_by_side(array_fill(0, $workers, fn (): array => busy_worker($size, $begin, $seconds)));
        $rate = array_sum(array_column($results, 'rate'));
        $own_share = array_sum(array_column($results, 'pss')) / $workers;
        $rows[] = [(string) $workers, three_digits($rate), three_digits(max(array_column($results, 'rss')) / 1024), three_digits($own_share / 1024)];
        $points[] = [$workers, $rate / 1e6];
    }
    return [
        table('Number of busy workers, a set of ' . number_format($size) . ' keys',
            ['workers', 'requests of 20 keys per second, all together', 'resident, MiB each', 'own share (PSS), MiB each'], $rows),
        lines('growth_workers', 'What all workers answer together', ['workers', 'log'], ['million requests per second', 'linear'], ['split_block_bloom' => $points],
            'Requests of 20 keys in one batch; workers do nothing else.'),
    ];
}

[, $size_list, $count_list, $seconds] = $argv;
$sizes = array_map(intval(...), explode(' ', $size_list));
// First, while this process has not attached anything that its children would inherit.
[$sets_table, $sets_plot] = growth_with_sets(array_map(intval(...), explode(' ', $count_list)));
[$workers_table, $workers_plot] = growth_with_workers(min(max($sizes), 10_000_000), (float) $seconds);
[$size_table, $size_plot] = growth_with_size($sizes);
print_part(
    ['PHP ' . PHP_VERSION . ' with opcache, no JIT; sets built for 1 %, in shards of 4 KiB, in /dev/shm'],
    [$size_table, $sets_table, $workers_table],
    [$size_plot, $sets_plot, $workers_plot],
);
