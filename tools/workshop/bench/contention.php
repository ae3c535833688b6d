<?php

// Requests per second and latency of readers, alone and next to a writer that refills the data they read.
// php contention.php BUILD_DIRECTORY DIRECTORY SNAPSHOT KEYS SECONDS ROUNDS; DIRECTORY holds the set "tags" of SNAPSHOT.

declare(strict_types=1);

require __DIR__ . '/readers.php';

const READERS = 4;
const WARM_UP = SECOND / 10;
const ENTRIES_AT_A_TIME = 1000; // stored by APCu's writer in one call
const SHARES = [0.5, 0.99, 0.999];

[, $build, $directory, $snapshot, $size, $seconds, $rounds] = $argv;
$size = (int) $size;
$duration = (int) ((float) $seconds * SECOND);

$entries = array_chunk(array_fill_keys(range(1, $size), true), ENTRIES_AT_A_TIME, true);
$refill_apcu = fn (): array => array_map(apcu_store(...), $entries);
$refill_apcu();
if (count(apcu_exists(array_map(strval(...), range(1, $size)))) !== $size) {
    throw new RuntimeException('APCu does not hold all keys: its memory is too small');
}
$publish = fn (): string => run("$build/bin/keysieve", 'publish', '--directory', $directory, $snapshot);
$methods = [
    'keysieve, alone' => [ready('tags')->mayContainMany(...), null],
    'keysieve, next to a writer' => [ready('tags')->mayContainMany(...), $publish],
    'APCu, alone' => [apcu_exists(...), null],
    'APCu, next to a writer' => [apcu_exists(...), $refill_apcu],
];

/** Writes until $until; returns how often. */
function write_until(callable $write, int $until): int
{
    for ($writes = 0; hrtime(true) < $until; ++$writes) {
        $write();
    }
    return $writes;
}

/** The columns of the table of readers next to a writer. */
$measure = function (array $method, int $round) use ($size, $duration): array {
    [$ask, $write] = $method;
    fwrite(STDERR, "round $round" . ($write === null ? '' : ', next to a writer') . "\n");
    $from = hrtime(true) + WARM_UP;
    $until = $from + $duration;
    $works = array_fill(1, READERS, fn (): array => requests($ask, $size, $from, $until)[1]);
    $results = side_by_side([...$works, fn (): int => $write === null ? 0 : write_until($write, $until)]);
    $writes = array_pop($results);
    $took = array_merge(...$results);
    $latencies = array_map(fn (float $share): float => at_share($took, $share) / 1000, SHARES);
    return [count($took) * SECOND / $duration, ...$latencies, $writes * SECOND / ($duration + WARM_UP)];
};

$rows = $bars = [];
foreach (by_turns((int) $rounds, $methods, $measure) as $name => $own) {
    $medians = column_medians($own);
    $bars[] = [$name, $medians[0]];
    $refills = array_pop($medians);
    $rows[] = [...explode(', ', $name), ...array_map(three_digits(...), $medians), $refills > 0 ? three_digits($refills) : ''];
}
print_part([
    READERS . ' PHP processes ask for 20 of ' . number_format($size) . ' keys, half of them absent, without a pause; ' .
        'requests per second include making the keys, latencies do not',
    "keysieve's writer runs keysieve publish in a loop; APCu's stores all keys again in a loop, " . number_format(ENTRIES_AT_A_TIME) .
        ' in a call. Next to a writer the readers have less of the processors',
    'APCu ' . phpversion('apcu') . ': apc.shm_size=256M, apc.entries_hint=131072, apcu_exists() with an array',
], [
    table("A request's 20 keys next to a writer that refills without a pause",
        ['method', '', 'requests/s', 'p50: µs', 'p99: µs', 'p99.9: µs', 'refills/s'], $rows),
], [
    bars('contention', 'Requests per second, ' . READERS . ' readers', 'requests per second', 'log', $bars,
        '20 keys each. The writer publishes, or stores all keys again, in a loop.'),
]);
