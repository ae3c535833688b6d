<?php

// Requests per second and latency of readers, with and without a writer that refills what they read.
// php contention.php BUILD_DIRECTORY DIRECTORY KEYS SECONDS ROUNDS; DIRECTORY holds the set "tags" and tags.ks.

declare(strict_types=1);

namespace KeySieve\Bench;

require __DIR__ . '/readers.php';

const READERS = 4;
const NO_PAUSE = 0;
const WARM_UP = SECOND / 10;
const ENTRIES_AT_A_TIME = 1000; // that the writer stores in one call

[, $build, $directory, $size, $seconds, $rounds] = $argv;
$size = (int) $size;
$duration = (int) ((float) $seconds * SECOND);

$set = new \KeySieve\Set('tags');
$entries = array_chunk(array_fill_keys(range(1, $size), true), ENTRIES_AT_A_TIME, true);
$refill_apcu = static function () use ($entries): void {
    foreach ($entries as $some) {
        apcu_store($some);
    }
};
$publish = static function () use ($build, $directory): void {
    exec(implode(' ', array_map('escapeshellarg', ["$build/bin/keysieve", 'publish', '--directory', $directory, "$directory/tags.ks"])), $output, $status);
    if ($status !== 0) {
        throw new \RuntimeException("keysieve publish has ended with $status");
    }
};
$refill_apcu();
if (count(apcu_exists(array_map(strval(...), range(1, $size)))) !== $size) {
    throw new \RuntimeException('APCu does not hold all keys: its memory is too small');
}
$methods = [
    'keysieve' => [$set->mayContainMany(...), $publish],
    'APCu' => [apcu_exists(...), $refill_apcu],
];

/** Calls $write again and again until $until, and leaves in $file how often. */
function start_writer(callable $write, int $until, string $file): int
{
    $child = pcntl_fork();
    if ($child !== 0) {
        return $child;
    }
    for ($writes = 0; hrtime(true) < $until; ++$writes) {
        $write();
    }
    file_put_contents($file, $writes);
    exit(0);
}

$took = $per_second = $refills = [];
for ($round = 1; $round <= (int) $rounds; ++$round) {
    fwrite(STDERR, "contention: round $round of $rounds\n");
    foreach ($methods as $name => [$ask, $write]) {
        foreach (['alone', 'beside a writer'] as $how) {
            $from = hrtime(true) + WARM_UP;
            $folder = temporary_folder();
            $writer = $how === 'alone' ? null : start_writer($write, $from + $duration, "$folder/writes");
            [$children, $files] = start_readers(READERS, $size, $from, $from + $duration, NO_PAUSE, $ask, $folder);
            [, $requests] = measured($children, $files);
            if ($writer !== null) {
                pcntl_waitpid($writer, $status);
                $refills[$name][] = (int) file_get_contents("$folder/writes") * SECOND / ($duration + WARM_UP);
                unlink("$folder/writes");
            }
            rmdir($folder);
            $per_second[$name][$how][] = count($requests) * SECOND / $duration;
            foreach ([0.5, 0.99, 0.999] as $share) {
                $took[$name][$how][(string) $share][] = at_share($requests, $share);
            }
        }
    }
}

$rows = $bars = [];
foreach ($methods as $name => $_) {
    foreach (['alone', 'beside a writer'] as $how) {
        $rate = median($per_second[$name][$how]);
        $rows[] = [
            $name,
            $how,
            three_digits($rate),
            ...array_map(static fn (array $values): string => microseconds(median($values)), array_values($took[$name][$how])),
            $how === 'alone' ? '' : three_digits(median($refills[$name])),
        ];
        $bars[] = ["$name, $how", $rate];
    }
}
echo json_encode([
    'settings' => [
        READERS . ' PHP processes ask for 20 of ' . number_format($size) . ' keys, half of them absent, without a pause; requests per second include making the keys, latencies do not',
        "keysieve's writer runs keysieve publish in a loop; APCu's stores all keys again in a loop, " . number_format(ENTRIES_AT_A_TIME) . ' in a call. Beside a writer the readers have less of the processors',
        'APCu ' . phpversion('apcu') . ': apc.shm_size=256M, apc.entries_hint=131072, apcu_exists() with an array',
    ],
    'tables' => [[
        'title' => "A request's 20 keys beside a writer that refills all the time",
        'columns' => ['method', '', 'requests/s', 'p50: µs', 'p99: µs', 'p99.9: µs', 'refills/s'],
        'rows' => $rows,
    ]],
    'plots' => [[
        'file' => 'contention',
        'title' => 'Requests per second, ' . READERS . ' readers',
        'note' => '20 keys each. The writer publishes, or stores all keys again, in a loop.',
        'bars' => ['title' => 'requests per second', 'scale' => 'log', 'rows' => $bars],
    ]],
    'checks' => [],
], JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT), "\n";
