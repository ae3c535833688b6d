<?php

// How long publications take, and how long the requests of many readers take around one.
// php refresh.php BUILD_DIRECTORY "SNAPSHOT..." "READERS..." REFRESHES PUBLICATIONS "PAGE SIZE=DIRECTORY"...

declare(strict_types=1);

require __DIR__ . '/bench.php';

const SIZE = 600_000;           // keys of each set: the numbers from 1 on, which cost nothing to make
const PAUSE_US = 5000;          // pause of a reader after each request; without it this would measure the scheduler
const WARM_UP = 3 * SECOND;     // until a reader has mapped the publication it starts with
const BEFORE = SECOND;
const DURING = SECOND;
const AFTER = 2 * SECOND;
const BIN = SECOND / 20;

function publish(string $build, string $directory, string $snapshot): void
{
    run("$build/bin/keysieve", 'publish', '--directory', $directory, $snapshot);
}

/**
 * Asks again and again until $publish_at + AFTER (hrtime): when each request began, in ns after $publish_at, and how long it took with
 * its end, which unmaps what was replaced.
 *
 * @return array{int[], int[]}
 */
function requests(string $snapshot, int $publish_at): array
{
    $set = new KeySieve\Set(basename($snapshot, '.ks'));
    $began = $took = [];
    while (hrtime(true) < $publish_at + AFTER) {
        $keys = array_map(fn (): string => (string) mt_rand(1, 2 * SIZE), range(1, KEYS_OF_A_PAGE)); // fresh strings, half of them in the set
        $before = hrtime(true);
        $set->mayContainMany($keys);
        KeySieve\begin_request();
        $after = hrtime(true);
        if ($before >= $publish_at - BEFORE) {
            $began[] = $before - $publish_at;
            $took[] = $after - $before;
        }
        usleep(mt_rand(intdiv(PAUSE_US, 2), intdiv(3 * PAUSE_US, 2)));
    }
    return [$began, $took];
}

/** The requests of many readers, each a process, around one refresh. */
function refresh(string $build, string $directory, string $snapshot, int $readers): array
{
    publish($build, $directory, $snapshot);
    $publish_at = hrtime(true) + WARM_UP + BEFORE;
    $files = $all = [];
    for ($seed = 0; $seed < $readers; ++$seed) {
        $file = tempnam(sys_get_temp_dir(), 'bench');
        $child = pcntl_fork();
        if ($child === 0) {
            mt_srand($seed);
            file_put_contents($file, serialize(requests($snapshot, $publish_at)));
            exit(0);
        }
        $files[$child] = $file;
    }
    usleep(max(0, intdiv($publish_at - hrtime(true), 1000)));
    publish($build, $directory, $snapshot);
    foreach ($files as $child => $file) {
        if (pcntl_waitpid($child, $status) < 1 || $status !== 0) {
            throw new RuntimeException('a reader has failed');
        }
        $all[] = unserialize(file_get_contents($file));
        unlink($file);
    }
    return array_map(fn (int $which): array => array_merge(...array_column($all, $which)), [0, 1]);
}

/** @return int[] how long those took that began then */
function between(array $requests, int $from, int $to): array
{
    [$began, $took] = $requests;
    return array_intersect_key($took, array_filter($began, fn (int $at): bool => $at >= $from && $at < $to));
}

/** @return array{float, float}[] seconds, p99 in µs */
function p99_over_time(array $requests): array
{
    $bins = $points = [];
    foreach ($requests[0] as $i => $began) {
        $bins[(int) floor($began / BIN)][] = $requests[1][$i];
    }
    ksort($bins);
    foreach (array_filter($bins, fn (array $took): bool => count($took) >= 100) as $bin => $took) {
        $points[] = [($bin + 0.5) * BIN / SECOND, at_share($took, 0.99) / 1000];
    }
    return $points;
}

if ($argv[1] === 'readers') { // as this script calls itself
    [, , $build, $directory, $snapshot, $readers] = $argv;
    echo serialize(refresh($build, $directory, $snapshot, (int) $readers));
    exit(0);
}

[, $build, $snapshots, $numbers, $refreshes, $publications] = $argv;
$phases = $stalls = $lines = [];
foreach (array_slice($argv, 6) as $place) {
    [$pages, $directory] = explode('=', $place, 2);
    foreach (explode(' ', $snapshots) as $snapshot) {
        $megabytes = three_digits(filesize($snapshot) / 1e6);
        fwrite(STDERR, "publishing $megabytes MB, pages of $pages\n");
        $times = json_decode(run("$build/bin/publish_bench", $directory, $snapshot, $publications), true, flags: JSON_THROW_ON_ERROR);
        $both = array_map(fn (array $time): float => $time['remove'] + $time['publish'], $times);
        $of = fn (string $phase): float => median(array_column($times, $phase));
        $phases[] = [$megabytes, $pages, ...array_map(three_digits(...), [$of('write'), $of('remove'), $of('publish'), median($both)])];
        foreach (explode(' ', $numbers) as $readers) {
            $around = [[], []];
            for ($round = 1; $round <= (int) $refreshes; ++$round) {
                fwrite(STDERR, "refresh $round of $refreshes, $readers readers, $megabytes MB, pages of $pages\n");
                // Keysieve's settings apply to a whole process, so each directory is measured by a process of its own.
                $output = run(PHP_BINARY, '-n', '-d', "extension=$build/ext/keysieve.so", '-d', 'memory_limit=2G', '-d', "keysieve.directory=$directory", __FILE__, 'readers', $build, $directory, $snapshot, $readers);
                $around = array_map(array_merge(...), $around, unserialize($output));
            }
            $before = between($around, -BEFORE, 0);
            $during = between($around, 0, DURING);
            $microseconds = fn (array $took, float $share): string => three_digits(at_share($took, $share) / 1000);
            $stalls[] = [$megabytes, $pages, $readers, $microseconds($before, 0.5), $microseconds($before, 0.99), $microseconds($before, 1.0),
                ...array_map(fn (float $share): string => $microseconds($during, $share), [0.5, 0.99, 0.999, 1.0])];
        }
    }
    $lines["pages of $pages"] = p99_over_time($around); // of the last snapshot and number of readers
}

print_part([
    "PHP processes ask for 20 keys, half of them absent, about every 5 ms each, of sets of the kind split_block_bloom; refreshes: $refreshes",
    'They pause between requests so that the processors are not saturated: else the scheduler is what is measured. The lookups and the end of the request, KeySieve\begin_request(), are timed',
    '4 KiB: /dev/shm. 2 MB: a tmpfs with huge=within_size',
    'Before: the second before keysieve publish is started. During: the second after; by its end every reader has changed over',
], [
    table('A publication, medians', ['set, MB', 'pages of', 'only writing the bytes: ms', 'removing what was replaced before: ms', 'copying, checking, making current: ms', 'both: ms'], $phases),
    table("A request's 20 keys around a refresh, µs", ['set, MB', 'pages of', 'processes', 'before: p50', 'p99', 'longest', 'during: p50', 'p99', 'p99.9', 'longest'], $stalls),
], [
    lines('refresh', "Latency during a refresh of $megabytes MB, $readers readers, 20 keys each", ['seconds after the publisher was started', 'linear'], ['p99 of a request, µs', 'log'], $lines, 'p99 of every 50 ms; the lookups and the end of the request are timed.'),
]);
