<?php

// Calls one method of a set 2,000 times with 20 keys, half of them absent: php count.php SET METHOD. Read by tools/workshop/bench/instructions.

declare(strict_types=1);

require __DIR__ . '/bench.php';

[, $set_name, $method] = $argv;
$set = ready($set_name);
mt_srand(1);
$keys = page_keys(100_000);

for ($i = 0; $i < 2_000; ++$i) {
    if ($method === 'mayContain') {
        $set->mayContain($keys[$i % 20]);
    } else {
        $set->$method($keys);
    }
}
