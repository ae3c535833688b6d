<?php
// Counts and times lookups in a php-fpm worker. The request's body names a set, a file of keys that are in it, and a file of
// keys that are not, one per line. Answers with one `name=value` per line.

declare(strict_types=1);

const LOOKUPS = 200_000;
const BATCH = 20;

function lines(string $path): array
{
    return file($path, FILE_IGNORE_NEW_LINES);
}

/** Nanoseconds per lookup, without the loop around it; the best of five rounds, since the machine does other things too. */
function nanosecondsPerLookup(callable $round, callable $emptyRound, int $lookups): float
{
    $best = INF;
    for ($i = 0; $i < 5; $i++) {
        $started = hrtime(true);
        $round();
        $between = hrtime(true);
        $emptyRound();
        $best = min($best, ($between - $started) - (hrtime(true) - $between));
    }
    return max(0.0, $best / $lookups);
}

[$name, $presentFile, $absentFile] = explode("\n", trim(file_get_contents('php://input')));
$set = new KeySieve\Set($name);
$present = lines($presentFile);
$absent = lines($absentFile);

$mixed = array_merge(array_slice($present, 0, LOOKUPS / 2), array_slice($absent, 0, LOOKUPS / 2));
mt_srand(1);
shuffle($mixed);
$pages = array_chunk($mixed, BATCH);

$single = nanosecondsPerLookup(
    function () use ($set, $mixed): void { foreach ($mixed as $key) { $set->mayContain($key); } },
    function () use ($mixed): void { foreach ($mixed as $key) { } },
    count($mixed),
);
$batch = nanosecondsPerLookup(
    function () use ($set, $pages): void { foreach ($pages as $page) { $set->mayContainMany($page); } },
    function () use ($pages): void { foreach ($pages as $page) { } },
    count($mixed),
);
$info = $set->info();

header('Content-Type: text/plain');
header('X-Worker: ' . getmypid());
printf("present=%d\n", count($present));
printf("false_negatives=%d\n", count($present) - count($set->candidates($present)));
printf("absent=%d\n", count($absent));
printf("measured=%.4f\n", 100 * count($set->candidates($absent)) / count($absent));
printf("estimated=%.4f\n", 100 * $info->estimatedFalsePositiveRate);
printf("single=%.0f\n", $single);
printf("batch=%.0f\n", $batch);
printf("kib=%.0f\n", $info->sizeBytes / 1024);
printf("bits_per_key=%.1f\n", $info->bitsPerKey);
