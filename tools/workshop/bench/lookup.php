<?php

// Lookups of every filter kind in C++, as lookup_bench measures them: php lookup.php JSON [--quick]

declare(strict_types=1);

require __DIR__ . '/bench.php';

const MODES = ['single, absent', 'single, present', 'batch of 20', '20 bytes, single', '20 bytes, batch'];
const INSTRUCTIONS = ['scalar', 'AVX2', 'Neon'];
const SIZES = ['L2', 'L3', 'DRAM'];

$measured = json_decode(file_get_contents($argv[1]), true, flags: JSON_THROW_ON_ERROR);
foreach ($measured['sizes'] as $i => ['bytes' => $bytes, 'ns' => $ns, 'bits_per_key' => $bits_per_key]) {
    $room = $bytes < 1 << 20 ? ($bytes >> 10) . ' KiB' : ($bytes >> 20) . ' MiB';
    $rows = $bars = [];
    foreach ($measured['kinds'] as $kind => $sets) {
        foreach ($sets as $set) {
            $of_modes = array_map(fn (string $mode): float => $ns["$kind|$set|$mode"], MODES);
            $rows[] = ["$kind, " . INSTRUCTIONS[$set], number_format($bits_per_key[$kind], 2), ...array_map(three_digits(...), $of_modes)];
        }
        foreach ([3, 4] as $mode) { // of the last set, which is the best one
            $bars[] = ["$kind, " . MODES[$mode], rounded($of_modes[$mode])];
        }
    }
    $floor = 'one cache line whose address depends on the one before: ' . three_digits($ns['floor']) . ' ns';
    $tables[] = table("Lookups in a set of $room (" . SIZES[$i] . "), ns per key; $floor", ['kind, instructions', 'bits/key', ...MODES], $rows);
    $plots[] = bars('lookup_' . ($bytes >> 10) . '_kib', "Lookups of absent strings in a set of $room", 'ns per key', 'linear', $bars, 'hash of 20 bytes and lookup, with the best instructions of this processor');
}
print_part([
    $measured['machine'],
    'keys per shard as sized for 1 % in shards of 4 KiB; absent keys; CPU time, medians of interleaved rounds',
    '20 bytes: the XXH3-64 of a string of 20 bytes is made as well',
    isset($argv[2]) ? 'the first shards of each set are built, and only they have members' : 'each shard of a set is built from its own keys',
], $tables, $plots);
