<?php

// What hot calls cost beside calls that do nothing: php hot.php SET COUNT ROUNDS, with the extensions keysieve and
// floor and a set of that many keys. Prints nanoseconds per call above an empty loop as JSON, the median of all rounds: what is measured takes turns.

declare(strict_types=1);

const CALLS = 100_000;

require __DIR__ . '/keys.php';
require __DIR__ . '/json.php';

[, $set_name, $count, $rounds] = $argv;
$set = new KeySieve\Set($set_name);
if ($set->availability() !== KeySieve\Availability::Ready) {
    fwrite(STDERR, "set $set_name is not ready\n");
    exit(1);
}
$floor = new Floor();

mt_srand(1);
$keys = page_keys((int) $count);
$key = key_number((int) $count);

$loops = [
    'empty loop' => function () {
        for ($i = 0; $i < CALLS; ++$i) {
        }
    },
    'empty method' => function () use ($floor, $key) {
        for ($i = 0; $i < CALLS; ++$i) {
            $floor->one($key);
        }
    },
    'mayContain' => function () use ($set, $key) {
        for ($i = 0; $i < CALLS; ++$i) {
            $set->mayContain($key);
        }
    },
    'empty batch method' => function () use ($floor, $keys) {
        for ($i = 0; $i < CALLS; ++$i) {
            $floor->many($keys);
        }
    },
    'mayContainMany' => function () use ($set, $keys) {
        for ($i = 0; $i < CALLS; ++$i) {
            $set->mayContainMany($keys);
        }
    },
    'candidates' => function () use ($set, $keys) {
        for ($i = 0; $i < CALLS; ++$i) {
            $set->candidates($keys);
        }
    },
];

$nanoseconds = [];
for ($round = -1; $round < (int) $rounds; ++$round) { // the first one warms up
    foreach ($loops as $name => $loop) {
        $began = hrtime(true);
        $loop();
        if ($round >= 0) {
            $nanoseconds[$name][] = (hrtime(true) - $began) / CALLS;
        }
    }
}
$medians = array_map(median(...), $nanoseconds);
echo json_encode(array_map(fn (float $median): float => $median - $medians['empty loop'], $medians)), "\n";
