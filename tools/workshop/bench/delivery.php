<?php

// Adds keys to a set with XADD, asks keysieve until the answer is maybe, and prints how long each took:
// php delivery.php SOCKET SET SAMPLES

declare(strict_types=1);

require __DIR__ . '/bench.php';

const PAUSE_US = 50;        // between two lookups, so that the loader gets a processor
const DEADLINE_NS = 10 * SECOND;
const BETWEEN_ADDS_US = 20_000;

[, $socket, $name, $samples] = $argv;
$redis = new Redis();
$redis->connect($socket);
$set = ready($name);

$took = [];
while (count($took) < (int) $samples) {
    $key = 'added-' . bin2hex(random_bytes(8));
    if ($set->mayContain($key)) {
        continue; // a false positive proves nothing
    }
    $began = hrtime(true);
    $redis->xAdd("keysieve:$name:adds", '*', ['key' => $key]);
    while (!$set->mayContain($key)) {
        if (hrtime(true) - $began > DEADLINE_NS) {
            throw new RuntimeException("$key was added and is absent after 10 s");
        }
        usleep(PAUSE_US);
    }
    $took[] = hrtime(true) - $began;
    usleep(BETWEEN_ADDS_US);
}
$ms = fn (float $share): float => at_share($took, $share) / 1e6;
printf("%d adds: median %.2f ms, p99 %.2f ms, longest %.2f ms\n", count($took), $ms(0.5), $ms(0.99), $ms(1.0));
