<?php

// Lookups and builds of every filter kind in C++, as lookup_bench measures them: php lookup.php JSON [--quick]

declare(strict_types=1);

require __DIR__ . '/bench.php';

const MODES = ['single, absent', 'single, present', 'batch of 20', '20 bytes, single', '20 bytes, batch'];
const INSTRUCTIONS = ['scalar', 'AVX2', 'Neon'];
const SIZES = ['L2', 'L3', 'DRAM'];

/** Aims, by size and in the order of MODES: times the floor for split_block_bloom, times split_block_bloom for ribbon; 0: none. */
const AIMS = [
    'L2' => ['split_block_bloom' => [1.6, 1.6, 1.3], 'ribbon' => [3.5, 5, 0]],
    'L3' => [],
    'DRAM' => ['split_block_bloom' => [1.3, 1.3, 1.15], 'ribbon' => [3, 5, 1.8]],
];
/** What a second level may cost, times the kind without one: absent and present keys. */
const KNOWN_ABSENT_AIMS = ['split_block_bloom' => [1.1, 2], 'ribbon' => [1.1, 1.4]];
const RIBBON_BUILD_AIM = 1.8; // times binary_fuse

$measured = json_decode(file_get_contents($argv[1]), true, flags: JSON_THROW_ON_ERROR);
$tables = $plots = $checks = [];
foreach ($measured['sizes'] as $i => $size) {
    ['bytes' => $bytes, 'ns' => $ns, 'bits_per_key' => $bits_per_key] = $size;
    $name = SIZES[$i];
    $room = $bytes < 1 << 20 ? ($bytes >> 10) . ' KiB' : ($bytes >> 20) . ' MiB';
    $rows = $bars = [];
    $floor = array_map(fn (string $mode): ?float => $ns["unsharded|$mode"] ?? null, MODES);
    if (isset($floor[0])) {
        $rows[] = ['split blocks without shards, inlined', '', ...array_map(fn (?float $ns): string => $ns === null ? '' : three_digits($ns), $floor)];
    }
    foreach ($measured['kinds'] as $kind => $sets) {
        foreach ($sets as $set) {
            $of_modes = array_map(fn (string $mode): float => $ns["$kind|$set|$mode"], MODES);
            $rows[] = ["$kind, " . INSTRUCTIONS[$set], number_format($bits_per_key[$kind], 2), ...array_map(three_digits(...), $of_modes)];
        }
        $best[$kind] = $of_modes;
        foreach ([3, 4] as $mode) { // of the last set, which is the best one
            $bars[] = ["$kind, " . MODES[$mode], rounded($of_modes[$mode])];
        }
        [$than, $peer] = $kind === 'ribbon' ? ['split_block_bloom', $best['split_block_bloom']] : ['the floor', $floor];
        foreach (array_filter(AIMS[$name][$kind] ?? []) as $mode => $aim) {
            if (isset($peer[$mode])) {
                $checks[] = at_most("$kind, " . MODES[$mode] . " in $name, times $than", $aim, $of_modes[$mode] / $peer[$mode]);
            }
        }
    }
    $tables[] = table(
        "Lookups in a set of $room ($name), ns per key; one cache line whose address depends on the one before: " . three_digits($ns['floor']) . ' ns',
        ['kind, instructions', 'bits/key', ...MODES],
        $rows,
    );
    $plots[] = bars('lookup_' . ($bytes >> 10) . '_kib', "Lookups of absent strings in a set of $room", 'ns per key', 'linear', $bars, 'hash of 20 bytes and lookup, with the best instructions of this processor');
}
$rows = [];
foreach (KNOWN_ABSENT_AIMS as $kind => [$absent, $present]) {
    $aims = ['single, absent' => $absent, 'batch of 20' => $absent, 'single, present' => $present, 'batch of 20, present' => $present];
    foreach ($measured['sizes'] as $i => ['ns' => $ns]) {
        $row = ["$kind, " . SIZES[$i]];
        foreach ($aims as $mode => $aim) {
            $path = "$kind|" . end($measured['kinds'][$kind]) . "|$mode";
            $times = $ns["known-absent|$path"] / $ns[$path];
            array_push($row, three_digits($ns["known-absent|$path"]), three_digits($times));
            if (SIZES[$i] !== 'L3') {
                $checks[] = at_most("$kind with known-absent keys, $mode in " . SIZES[$i] . ', times without', $aim, $times);
            }
        }
        $rows[] = $row;
    }
}
$headings = [];
foreach (array_keys($aims) as $mode) {
    array_push($headings, $mode, '× without');
}
$tables[] = table('Lookups in sets of the same sizes with as many known-absent keys as keys, ns per key', ['kind', ...$headings], $rows);
$rows = [];
foreach (array_keys($measured['kinds']) as $kind) {
    $ns = $measured['builds'][$kind];
    $rows[] = [$kind, three_digits($ns), three_digits(1e3 / $ns)];
}
$checks[] = at_most('build of ribbon, times binary_fuse', RIBBON_BUILD_AIM, $measured['builds']['ribbon'] / $measured['builds']['binary_fuse']);
$tables[] = table('Builds of one shard after the other by one thread; keys are hashed, and sorted by shard', ['kind', 'ns per key', 'million keys per second'], $rows);
print_part([
    $measured['machine'],
    'keys per shard as sized for 1 % in shards of 4 KiB; absent keys; CPU time, medians of interleaved rounds',
    '20 bytes: the XXH3-64 of a string of 20 bytes is made as well',
    isset($argv[2]) ? 'the first shards of each set are built, and only they have members' : 'each shard of a set is built from its own keys',
], $tables, $plots, $checks);
