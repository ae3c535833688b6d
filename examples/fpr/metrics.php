<?php

// The counts of CountedSet from all workers of this php-fpm, for Prometheus. Deny access to all others: ../README.md says
// how.

declare(strict_types=1);

use KeySieve\CountedSet;

require __DIR__ . '/CountedSet.php';

const COUNTERS = [
    'absent' => 'Keys that were certainly not in the set; their store was not asked.',
    'maybe' => 'Keys that may be in the set.',
    'unavailable' => 'Keys that were answered maybe only because the set was unavailable.',
    'found' => 'Keys that were answered maybe, and that the store had.',
    'false_positive' => 'Keys that were answered maybe, and that the store did not have.',
];

header('Content-Type: text/plain; version=0.0.4; charset=utf-8');
if (!function_exists('apcu_enabled') || !apcu_enabled()) {
    http_response_code(503);
    exit("# nothing is counted: APCu is not installed, or switched off\n");
}

$counts = [];
foreach (new APCUIterator('/^' . CountedSet::APCU_PREFIX . '/') as ['key' => $key, 'value' => $count]) {
    [, $set, $counter] = explode(':', $key);
    $counts[$set][$counter] = $count;
}
ksort($counts);
foreach (COUNTERS as $counter => $help) {
    $name = "keysieve_php_{$counter}_total";
    echo "# HELP $name $help\n# TYPE $name counter\n";
    foreach ($counts as $set => $ofSet) {
        echo "{$name}{set=\"$set\"} ", $ofSet[$counter] ?? 0, "\n";
    }
}
