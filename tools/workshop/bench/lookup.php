<?php

// Lookups and builds of every filter kind in C++, as lookup_bench measures them: php lookup.php JSON [--quick]

declare(strict_types=1);

require __DIR__ . '/bench.php';

const MODES = ['single, absent', 'single, present', 'batch of 20', '20 bytes, single', '20 bytes, batch'];
const INSTRUCTIONS = ['scalar', 'AVX2', 'Neon'];
const SIZES = ['L2', 'L3', 'DRAM'];

const KNOWN_ABSENT_KINDS = ['split_block_bloom', 'ribbon'];
const KNOWN_ABSENT_MODES = ['single, absent', 'batch of 20', 'single, present', 'batch of 20, present'];

$measured = json_decode(file_get_contents($argv[1]), true, flags: JSON_THROW_ON_ERROR);
$tables = $plots = [];
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
        foreach ([3, 4] as $mode) { // of the last set, which is the best one
            $bars[] = ["$kind, " . MODES[$mode], rounded($of_modes[$mode])];
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
foreach (KNOWN_ABSENT_KINDS as $kind) {
    foreach ($measured['sizes'] as $i => ['ns' => $ns]) {
        $row = ["$kind, " . SIZES[$i]];
        foreach (KNOWN_ABSENT_MODES as $mode) {
            $path = "$kind|" . end($measured['kinds'][$kind]) . "|$mode";
            array_push($row, three_digits($ns["known-absent|$path"]), three_digits($ns["known-absent|$path"] / $ns[$path]));
        }
        $rows[] = $row;
    }
}
$headings = [];
foreach (KNOWN_ABSENT_MODES as $mode) {
    array_push($headings, $mode, '× without');
}
$tables[] = table('Lookups in sets of the same sizes with as many known-absent keys as keys, ns per key', ['kind', ...$headings], $rows);
$rows = [];
foreach (array_keys($measured['kinds']) as $kind) {
    $ns = $measured['builds'][$kind];
    $rows[] = [$kind, three_digits($ns), three_digits(1e3 / $ns)];
}
$tables[] = table('Builds of one shard after the other by one thread; keys are hashed, and sorted by shard', ['kind', 'ns per key', 'million keys per second'], $rows);
print_part([
    $measured['machine'],
    'keys per shard as sized for 1 % in shards of 4 KiB; absent keys; CPU time, medians of interleaved rounds',
    '20 bytes: the XXH3-64 of a string of 20 bytes is made as well',
    isset($argv[2]) ? 'the first shards of each set are built, and only they have members' : 'each shard of a set is built from its own keys',
], $tables, $plots);
