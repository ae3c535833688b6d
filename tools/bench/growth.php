<?php

// What lookups cost in sets of growing size, in a growing number of sets, and in a growing number of workers.
// php growth.php "SIZE..." "NUMBER OF SETS..." SECONDS; the sets are those that tools/bench/growth publishes.

declare(strict_types=1);

namespace KeySieve\Bench;

require_once __DIR__ . '/figures.php';

use KeySieve\Availability;
use KeySieve\Set;

const KEYS_PER_REQUEST = 20;
const REQUESTS = 500;      // of one round; their strings fit the second-level cache
const ROUNDS = 41;
const SET_KEYS = 1000;     // of each of many sets
const LOOKUPS = 20_000;    // of one round over many sets

function ready(string $name): Set
{
    $set = new Set($name);
    if ($set->availability() !== Availability::Ready) {
        throw new \RuntimeException("set $name is not ready");
    }
    return $set;
}

/** Fresh strings, half of them members of a set of $size keys. */
function request(int $size): array
{
    $keys = [];
    for ($i = 0; $i < KEYS_PER_REQUEST; ++$i) {
        $keys[] = (string) random_int(1, 2 * $size);
    }
    return $keys;
}

/** @return array{single: float, batch: float} ns per key, the loop's own cost included */
function lookup_cost(Set $set, int $size): array
{
    $single = $batch = [];
    for ($round = 0; $round < ROUNDS; ++$round) {
        $requests = [];
        for ($i = 0; $i < 2 * REQUESTS; ++$i) {
            $requests[] = request($size);
        }
        $began = hrtime(true);
        for ($i = 0; $i < REQUESTS; ++$i) {
            $set->mayContainMany($requests[$i]);
        }
        $between = hrtime(true);
        for (; $i < 2 * REQUESTS; ++$i) {
            foreach ($requests[$i] as $key) {
                $set->mayContain($key);
            }
        }
        $batch[] = ($between - $began) / (REQUESTS * KEYS_PER_REQUEST);
        $single[] = (hrtime(true) - $between) / (REQUESTS * KEYS_PER_REQUEST);
    }
    return ['single' => median($single), 'batch' => median($batch)];
}

/** @param int[] $sizes */
function growth_with_size(array $sizes): array
{
    $rows = $series = [];
    foreach (['split_block_bloom', 'ribbon'] as $kind) {
        $lines = ['single' => [], 'batch' => []];
        foreach ($sizes as $size) {
            $began = hrtime(true);
            $set = ready("$kind-$size");
            $attached = hrtime(true);
            $cost = lookup_cost($set, $size);
            $info = $set->info();
            $rows[] = [
                $kind, number_format($size), three_digits($info->sizeBytes / 1048576), three_digits($info->bitsPerKey),
                three_digits(($attached - $began) / 1000), three_digits($cost['single']), three_digits($cost['batch']),
            ];
            foreach ($cost as $way => $ns) {
                $lines[$way][] = [$size, $ns];
            }
        }
        $series[] = ['name' => "$kind, single calls", 'points' => $lines['single']];
        $series[] = ['name' => "$kind, batch of 20", 'points' => $lines['batch']];
    }
    return [
        [
            'title' => 'Size of a set', 'rows' => $rows,
            'columns' => ['kind', 'keys', 'MiB', 'bits/key', 'first call, µs', 'single call, ns', 'in a batch of 20, ns per key'],
        ],
        [
            'file' => 'growth_size', 'title' => 'A lookup in PHP against the size of the set',
            'note' => 'Fresh strings, half of them members; the call and the loop are included.',
            'x' => ['title' => 'keys in the set', 'scale' => 'log'], 'y' => ['title' => 'ns per key'], 'series' => $series,
        ],
    ];
}

/** Resident and shared memory of this process, in KiB, of one field of smaps_rollup. */
function memory_kib(string $field): int
{
    preg_match("/^$field: +(\d+) kB/m", file_get_contents('/proc/self/smaps_rollup'), $match);
    return (int) $match[1];
}

function page_tables_kib(): int
{
    preg_match('/^VmPTE:\s+(\d+) kB/m', file_get_contents('/proc/self/status'), $match);
    return (int) $match[1];
}

function many_sets_cost(int $count): array
{
    $sets = $first = [];
    $private = memory_kib('Private_Dirty') + page_tables_kib();
    for ($number = 1; $number <= $count; ++$number) {
        $set = new Set("small-$number");
        $began = hrtime(true);
        $set->mayContain('0');
        $first[] = (hrtime(true) - $began) / 1000;
        $sets[] = $set;
    }
    $private = memory_kib('Private_Dirty') + page_tables_kib() - $private;
    $ns = [];
    for ($round = 0; $round < ROUNDS; ++$round) {
        $asked = $keys = [];
        for ($i = 0; $i < LOOKUPS; ++$i) {
            $asked[] = $sets[random_int(0, $count - 1)];
            $keys[] = (string) random_int(1, 2 * SET_KEYS);
        }
        $began = hrtime(true);
        foreach ($keys as $i => $key) {
            $asked[$i]->mayContain($key);
        }
        $ns[] = (hrtime(true) - $began) / LOOKUPS;
    }
    return ['first' => median($first), 'ns' => median($ns), 'private' => $private, 'sets' => $sets];
}

/** Runs `$work` in a process of its own; what it returns comes through `$file`. */
function in_child(string $file, callable $work): int
{
    $child = pcntl_fork();
    if ($child === -1) {
        throw new \RuntimeException('cannot fork');
    }
    if ($child === 0) {
        file_put_contents($file, serialize($work()));
        exit(0);
    }
    return $child;
}

/** @param int[] $children */
function wait_for(array $children): void
{
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
        if ($status !== 0) {
            throw new \RuntimeException("child $child failed");
        }
    }
}

/** @param int[] $counts */
function growth_with_sets(array $counts): array
{
    $rows = $points = [];
    $file = tempnam(sys_get_temp_dir(), 'keysieve');
    foreach ($counts as $count) { // each in a process that has attached nothing yet
        wait_for([in_child($file, static function () use ($count): array {
            $cost = many_sets_cost($count);
            $maps = substr_count(file_get_contents('/proc/self/maps'), 'keysieve.');
            unset($cost['sets']);
            return $cost + ['maps' => $maps];
        })]);
        $cost = unserialize(file_get_contents($file));
        $rows[] = [
            number_format($count), three_digits($cost['ns']), three_digits($cost['first']), number_format($cost['maps']),
            three_digits($cost['private'] / $count),
        ];
        $points[] = [$count, $cost['ns']];
    }
    unlink($file);
    return [
        [
            'title' => 'Number of sets, of 1,000 keys each, asked in random order', 'rows' => $rows,
            'columns' => ['sets', 'single call, ns', 'first call, µs', 'mappings', 'memory of a worker per set, KiB'],
        ],
        [
            'file' => 'growth_sets', 'title' => 'A lookup in PHP against the number of sets',
            'note' => 'Sets of 1,000 keys, asked in random order; the call and the loop are included.',
            'x' => ['title' => 'sets', 'scale' => 'log'], 'y' => ['title' => 'ns per lookup'],
            'series' => [['name' => 'split_block_bloom', 'points' => $points]],
        ],
    ];
}

/** Requests of 20 keys per second that this process answers from a moment on, at which all workers begin. */
function busy_worker(Set $set, int $size, int $begin, float $seconds): array
{
    $requests = [];
    for ($i = 0; $i < REQUESTS; ++$i) {
        $requests[] = request($size);
    }
    $answered = 0;
    $memory = [];
    time_nanosleep(0, max(0, $begin - hrtime(true)));
    do {
        foreach ($requests as $keys) {
            $set->mayContainMany($keys);
        }
        $answered += REQUESTS;
        $took = (hrtime(true) - $begin) / 1e9;
        if ($memory === [] && $took > $seconds / 2) { // while all others run as well
            $memory = ['pss' => memory_kib('Pss'), 'rss' => memory_kib('Rss')];
        }
    } while ($took < $seconds);
    return ['rate' => $answered / $took] + $memory;
}

function growth_with_workers(int $size, float $seconds): array
{
    $rows = $points = [];
    foreach ([1, 2, 4, 8, 16, 32, 64] as $workers) {
        $files = $children = [];
        $begin = hrtime(true) + 500_000_000;
        for ($i = 0; $i < $workers; ++$i) {
            $files[] = tempnam(sys_get_temp_dir(), 'keysieve');
            $children[] = in_child(
                end($files),
                static fn (): array => busy_worker(ready("split_block_bloom-$size"), $size, $begin, $seconds),
            );
        }
        wait_for($children);
        $results = array_map(static fn (string $file): array => unserialize(file_get_contents($file)), $files);
        array_map(unlink(...), $files);
        $rate = array_sum(array_column($results, 'rate'));
        $rows[] = [
            (string) $workers, three_digits($rate), three_digits(max(array_column($results, 'rss')) / 1024),
            three_digits(array_sum(array_column($results, 'pss')) / 1024 / $workers),
        ];
        $points[] = [$workers, $rate / 1e6];
    }
    return [
        [
            'title' => 'Number of busy workers, a set of ' . number_format($size) . ' keys', 'rows' => $rows,
            'columns' => ['workers', 'requests of 20 keys per second, all together', 'resident, MiB each', 'own share (PSS), MiB each'],
        ],
        [
            'file' => 'growth_workers', 'title' => 'What all workers answer together',
            'note' => 'Requests of 20 keys in one batch; workers do nothing else.',
            'x' => ['title' => 'workers', 'scale' => 'log'], 'y' => ['title' => 'million requests per second'],
            'series' => [['name' => 'split_block_bloom', 'points' => $points]],
        ],
    ];
}

[, $sizes, $counts, $seconds] = $argv;
$sizes = array_map(intval(...), explode(' ', $sizes));
$counts = array_map(intval(...), explode(' ', $counts));
// First, while this process has not attached anything that its children would inherit.
[$setsTable, $setsPlot] = growth_with_sets($counts);
[$workersTable, $workersPlot] = growth_with_workers($sizes[count($sizes) > 4 ? 3 : 2], (float) $seconds);
[$sizeTable, $sizePlot] = growth_with_size($sizes);
echo json_encode(
    [
        'settings' => ['PHP ' . PHP_VERSION . ' with opcache, no JIT; sets built for 1 %, in shards of 4 KiB, in /dev/shm'],
        'tables' => [$sizeTable, $setsTable, $workersTable],
        'plots' => [$sizePlot, $setsPlot, $workersPlot],
    ],
    JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR,
), "\n";
