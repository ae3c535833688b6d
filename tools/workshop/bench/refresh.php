<?php

// How long publications of a snapshot take, and how long the requests of many readers take around one.
// php refresh.php BUILD_DIRECTORY SNAPSHOT READERS REFRESHES PUBLICATIONS "PAGE SIZE=DIRECTORY"...

declare(strict_types=1);

require __DIR__ . '/bench.php';

const SIZE = 600_000;           // keys of the set: the numbers from 1 on, which cost nothing to make
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
 * Asks again and again until $publish_at + AFTER (hrtime): when each request began, in ns after $publish_at, and how long it took.
 *
 * @return array{int[], int[]}
 */
function requests(int $publish_at): array
{
    $set = new KeySieve\Set('tags');
    $began = $took = [];
    while (hrtime(true) < $publish_at + AFTER) {
        $keys = array_map(fn (): string => (string) mt_rand(1, 2 * SIZE), range(1, KEYS_OF_A_PAGE)); // fresh strings, half of them in the set
        $before = hrtime(true);
        $set->mayContainMany($keys);
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
            file_put_contents($file, serialize(requests($publish_at)));
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

[, $build, $snapshot, $readers, $refreshes, $publications] = $argv;
$places = [];
foreach (array_slice($argv, 6) as $place) {
    [$pages, $directory] = explode('=', $place, 2);
    $places[$pages] = $directory;
    $around[$pages] = [[], []];
}
for ($round = 1; $round <= (int) $refreshes; ++$round) {
    foreach ($places as $pages => $directory) {
        fwrite(STDERR, "refresh $round of $refreshes, $readers readers, pages of $pages\n");
        // Keysieve's settings apply to a whole process, so each directory is measured by a process of its own.
        $output = run(PHP_BINARY, '-n', '-d', "extension=$build/ext/keysieve.so", '-d', 'memory_limit=2G', '-d', "keysieve.directory=$directory", __FILE__, 'readers', $build, $directory, $snapshot, $readers);
        $around[$pages] = array_map(array_merge(...), $around[$pages], unserialize($output));
    }
}

$megabytes = three_digits(filesize($snapshot) / 1e6);
$phases = $stalls = $lines = [];
foreach ($places as $pages => $directory) {
    fwrite(STDERR, "publishing, pages of $pages\n");
    $times = json_decode(run("$build/bin/publish_bench", $directory, $snapshot, $publications), true, flags: JSON_THROW_ON_ERROR);
    $both = array_map(fn (array $time): float => $time['remove'] + $time['publish'], $times);
    $of = fn (string $phase): float => median(array_column($times, $phase));
    $phases[] = [$pages, ...array_map(three_digits(...), [$of('write'), $of('remove'), $of('publish'), median($both)])];
    $before = between($around[$pages], -BEFORE, 0);
    $during = between($around[$pages], 0, DURING);
    foreach (['before' => $before, 'during' => $during] as $when => $took) {
        $stalls[] = [$pages, $when, ...array_map(fn (float $share): string => three_digits(at_share($took, $share) / 1000), [0.5, 0.99, 0.999, 1.0])];
    }
    $lines["pages of $pages"] = p99_over_time($around[$pages]);
}

print_part([
    "A set of $megabytes MB (split_block_bloom); $readers PHP processes ask for 20 keys, half of them absent, about every 5 ms each; refreshes: $refreshes",
    'They pause between requests so that the processors are not saturated: else the scheduler is what is measured. The lookups alone are timed',
    '4 KiB: /dev/shm. 2 MB: a tmpfs with huge=within_size',
    'Before: the second before keysieve publish is started. During: the second after; by its end every reader has changed over',
], [
    table('A publication, medians', ['pages of', 'only writing the bytes: ms', 'removing what was replaced before: ms', 'copying, checking, making current: ms', 'both: ms'], $phases),
    table("A request's 20 keys around a refresh", ['pages of', '', 'p50: µs', 'p99: µs', 'p99.9: µs', 'longest: µs'], $stalls),
], [
    lines('refresh', "Latency during a refresh, $readers readers, 20 keys each", ['seconds after the publisher was started', 'linear'], ['p99 of a request, µs', 'log'], $lines, 'p99 of every 50 ms; the lookups alone are timed.'),
]);
