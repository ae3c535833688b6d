<?php

// Hash sharing in an LSM tree, replayed: one key, asked of 1 to 100 sets. php hash_sharing.php BIN, with the sets segment-0 to
// segment-99, which share their seed.

declare(strict_types=1);

require __DIR__ . '/../bench.php';

use KeySieve\Set;

const COUNTS = [1, 4, 8, 16, 24, 32, 48, 64, 100];
const ROUNDS = 7;
const ASKED_PER_ROUND = 40_000; // sets

/** ns per key. */
function ns_per_key(callable $ask, array $keys): float
{
    return time_of(function () use ($ask, $keys): void {
        foreach ($keys as $key) {
            $ask($key);
        }
    }) / count($keys);
}

/** Keys that no round before has asked for, so that their lines are in no cache. @return string[] */
function other_keys(int $count): array
{
    static $next = 0;
    return array_map(static fn (int $i): string => "https://example.com/item/$i", range($next += $count, $next + $count - 1));
}

$lines = $rows = [];
foreach (COUNTS as $count) {
    $names = array_map(static fn (int $i): string => "segment-$i", range(0, $count - 1));
    $sets = array_map(ready(...), $names);
    $each = static function (string $key) use ($sets): void {
        foreach ($sets as $set) {
            $set->mayContain($key);
        }
    };
    $medians = array_map(median(...), by_turns(ROUNDS, [
        'mayContain(string)' => $each,
        'candidate_sets()' => static fn (string $key): array => KeySieve\candidate_sets($names, $key),
    ], static fn (callable $ask): float => ns_per_key($ask, other_keys(intdiv(ASKED_PER_ROUND, $count) + 1))));
    foreach ($medians as $name => $ns) {
        $lines[$name][] = [$count, rounded($ns / 1000)];
    }
    [$hashes, $shared] = array_values($medians);
    $rows[] = [(string) $count, three_digits($hashes / 1000), three_digits($shared / 1000), three_digits($shared / $count), three_digits($hashes / $shared)];
}
$bin = $argv[1];
$million = planned($bin, 1_000_000, '0.01', 'bloom');
$thousand = planned($bin, 1_000, '0.0000001', 'bloom');
$size = static fn (array $kind): string => three_digits($kind['bytes'] / 1024) . " KiB, k = $kind[hash_count]";
print_part([], [
    table('One key asked of many sets, 300,000 keys each', ['sets', 'mayContain(string) of each, µs', 'candidate_sets(), µs', 'ns per set', 'ratio of first to last'], $rows),
    table('Sizes', ['what', 'original', 'keysieve, bloom'], [
        ['1 million keys at 1 %', '1.14 MiB (1,167 KiB), k = 7', $size($million)],
        ['1,000 keys at 1e-7', '3.51 KiB, k = 20', $size($thousand) . ": $thousand[shard_count] shards and two pages, at a rate of " . sprintf('%.0e', $thousand['theoretical_fpr'])],
    ]),
], [lines('hash_sharing', 'One key asked of many sets', ['sets', 'linear'], ['µs per key', 'linear'], $lines)]);
