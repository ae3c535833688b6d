<?php

// Cost of hot calls next to calls that do nothing; the calls take turns.
// php hot.php FOLDER COUNT ROUNDS, with the extensions keysieve and floor, and the set of that many keys.

declare(strict_types=1);

require __DIR__ . '/bench.php';

const CALLS = 100_000;
const BODIES = [
    'empty loop' => '',
    'empty method' => '$floor->one($key);',
    'mayContain' => '$set->mayContain($key);',
    'empty batch method' => '$floor->many($keys);',
    'mayContainMany' => '$set->mayContainMany($keys);',
    'candidates' => '$set->candidates($keys);',
];

[, $folder, $count, $rounds] = $argv;
$set = ready("keys-$count");
$floor = new Floor();
mt_srand(1);
$keys = page_keys((int) $count);
$key = key_number((int) $count);

$loops = [];
foreach (BODIES as $name => $body) {
    write_php("$folder/$name.php", 'return function () use ($set, $floor, $key, $keys): void {
        for ($i = 0; $i < ' . CALLS . "; ++\$i) { $body }
    };");
    $loops[$name] = require "$folder/$name.php";
    $loops[$name](); // warms up
}
$medians = array_map(median(...), by_turns((int) $rounds, $loops, fn (callable $loop): float => time_of($loop) / CALLS));
$above = fn (string $call, string $floor): float => $medians[$call] - $medians[$floor];
$row = fn (string $text, string $call, string $floor = ''): array =>
    [$text, three_digits($above($call, 'empty loop')), $floor === '' ? '–' : three_digits($above($call, $floor))];
print_part([], [
    table('Hot calls, ns above an empty loop', ['call', 'ns', 'above the empty method'], [
        $row('empty method that takes a string', 'empty method'),
        $row('mayContain()', 'mayContain', 'empty method'),
        $row('empty method that takes an array and returns 20 bools', 'empty batch method'),
        $row('mayContainMany() of 20', 'mayContainMany', 'empty batch method'),
        $row('candidates() of 20', 'candidates', 'empty batch method'),
    ]),
], []);
