<?php

// How long publications of a snapshot take, and how long the requests of many readers take around one.
// php refresh.php BUILD_DIRECTORY SNAPSHOT READERS REFRESHES PUBLICATIONS "PAGE SIZE=DIRECTORY"...

declare(strict_types=1);

namespace KeySieve\Bench;

require __DIR__ . '/readers.php';

const SIZE = 600_000;           // keys of the set
const PAUSE_US = 5000;          // of a reader between two requests
const WARM_UP = 3 * SECOND;     // until a reader has mapped what it had before
const BEFORE = SECOND;
const DURING = SECOND;          // half of it is the workers' jitter
const AFTER = 2 * SECOND;
const BIN = SECOND / 20;

final class Moments
{
    /** @param int[] $began when each request began, ns after the publisher was started
     *  @param int[] $took ns */
    public function __construct(private array $began, private array $took)
    {
    }

    /** @return int[] how long those took that began then */
    public function between(int $from, int $to): array
    {
        $took = [];
        foreach ($this->began as $i => $began) {
            if ($began >= $from && $began < $to) {
                $took[] = $this->took[$i];
            }
        }
        return $took;
    }

    /** @return array{float, float}[] seconds, p99 in µs */
    public function p99_over_time(): array
    {
        $bins = [];
        foreach ($this->began as $i => $began) {
            $bins[(int) floor($began / BIN)][] = $this->took[$i];
        }
        ksort($bins);
        $points = [];
        foreach ($bins as $bin => $took) {
            if (count($took) >= 100) {
                $points[] = [($bin + 0.5) * BIN / SECOND, at_share($took, 0.99) / 1000];
            }
        }
        return $points;
    }
}

function publish(string $build, string $directory, string $snapshot): void
{
    exec(implode(' ', array_map('escapeshellarg', ["$build/bin/keysieve", 'publish', '--directory', $directory, $snapshot])), $output, $status);
    if ($status !== 0) {
        throw new \RuntimeException("keysieve publish has ended with $status");
    }
}

/** One refresh among $readers readers. */
function refresh(string $build, string $directory, string $snapshot, int $readers): array
{
    $publish_at = hrtime(true) + WARM_UP + BEFORE;
    $folder = temporary_folder();
    // Keysieve's settings are the system's: each directory is measured by a process of its own.
    $set = new \KeySieve\Set('tags');
    [$children, $files] = start_readers($readers, SIZE, $publish_at - BEFORE, $publish_at + AFTER, PAUSE_US, $set->mayContainMany(...), $folder);
    usleep(intdiv($publish_at - hrtime(true), 1000));
    publish($build, $directory, $snapshot);
    [$began, $took] = measured($children, $files);
    rmdir($folder);
    return [array_map(static fn (int $at): int => $at - $publish_at, $began), $took];
}

/** Medians in ms of what publish_bench prints. */
function publication_times(string $build, string $directory, string $snapshot, int $publications): array
{
    exec(implode(' ', array_map('escapeshellarg', ["$build/bin/publish_bench", $directory, $snapshot, $publications])), $lines, $status);
    if ($status !== 0) {
        throw new \RuntimeException("publish_bench has ended with $status");
    }
    $times = array_map(static fn (string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR), $lines);
    $times = array_map(static fn (array $time): array => $time + ['all' => $time['remove'] + $time['publish']], $times);
    return array_map(static fn (string $phase): float => median(array_column($times, $phase)), ['write' => 'write', 'remove' => 'remove', 'publish' => 'publish', 'all' => 'all']);
}

if ($argv[1] === 'readers') { // as refresh.php calls itself
    [, , $build, $directory, $snapshot, $readers] = $argv;
    publish($build, $directory, $snapshot);
    echo json_encode(refresh($build, $directory, $snapshot, (int) $readers));
    exit(0);
}

[, $build, $snapshot, $readers, $refreshes, $publications] = $argv;
$megabytes = three_digits(filesize($snapshot) / 1e6);
$phases = $stalls = $series = $checks = [];
$moments = [];
for ($round = 1; $round <= (int) $refreshes; ++$round) {
    foreach (array_slice($argv, 6) as $place) {
        [$pages, $directory] = explode('=', $place, 2);
        fwrite(STDERR, "refresh $round of $refreshes, $readers readers, pages of $pages\n");
        $command = [PHP_BINARY, '-n', '-d', "extension=$build/ext/keysieve.so", '-d', 'memory_limit=2G', '-d', "keysieve.directory=$directory", __FILE__, 'readers', $build, $directory, $snapshot, $readers];
        $output = shell_exec(implode(' ', array_map('escapeshellarg', $command)));
        [$began, $took] = json_decode((string) $output, true, flags: JSON_THROW_ON_ERROR);
        $moments[$pages] ??= [[], []];
        array_push($moments[$pages][0], ...$began);
        array_push($moments[$pages][1], ...$took);
    }
}
foreach (array_slice($argv, 6) as $place) {
    [$pages, $directory] = explode('=', $place, 2);
    fwrite(STDERR, "publishing, pages of $pages\n");
    $time = publication_times($build, $directory, $snapshot, (int) $publications);
    $phases[] = ["$pages", ...array_map(three_digits(...), array_values($time))];
    $around = new Moments(...$moments[$pages]);
    $before = $around->between(-BEFORE, 0);
    $during = $around->between(0, DURING);
    $ratio = at_share($during, 0.99) / at_share($before, 0.99);
    $shares = static fn (array $took): array => array_map(static fn (float $share): string => microseconds(at_share($took, $share)), [0.5, 0.99, 0.999, 1.0]);
    $stalls[] = [$pages, 'before', ...$shares($before)];
    $stalls[] = [$pages, 'during', ...$shares($during)];
    $series[] = ['name' => "pages of $pages", 'points' => $around->p99_over_time()];
    $checks[] = ['aim' => "publishing $megabytes MB on a tmpfs with pages of $pages, ms", 'wanted' => '< 100', 'measured' => three_digits($time['all']), 'reached' => $time['all'] < 100];
    $checks[] = ['aim' => "p99 of requests during a refresh, times that without, pages of $pages", 'wanted' => '≤ 10', 'measured' => three_digits($ratio), 'reached' => $ratio <= 10];
}

echo json_encode([
    'settings' => [
        "A set of $megabytes MB (split_block_bloom); $readers PHP processes ask for 20 keys, half of them absent, about every 5 ms each; refreshes: $refreshes",
        'They pause between requests so that the processors are not saturated: else the scheduler is what is measured. The lookups alone are timed',
        '4 KiB: /dev/shm. 2 MB: a tmpfs with huge=within_size',
        'Before: the second before keysieve publish is started. During: the second after; by its end every reader has changed over',
    ],
    'tables' => [
        [
            'title' => 'A publication, medians',
            'columns' => ['pages of', 'only writing the bytes: ms', 'removing what was replaced before: ms', 'copying, checking, making current: ms', 'both: ms'],
            'rows' => $phases,
        ],
        [
            'title' => "A request's 20 keys around a refresh",
            'columns' => ['pages of', '', 'p50: µs', 'p99: µs', 'p99.9: µs', 'longest: µs'],
            'rows' => $stalls,
        ],
    ],
    'plots' => [[
        'file' => 'refresh',
        'title' => "Latency during a refresh, $readers readers, 20 keys each",
        'note' => 'p99 of every 50 ms; the lookups alone are timed.',
        'x' => ['title' => 'seconds after the publisher was started', 'scale' => 'linear'],
        'y' => ['title' => 'p99 of a request, µs', 'scale' => 'log'],
        'series' => $series,
    ]],
    'checks' => $checks,
], JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT), "\n";
