<?php

// Calls one method of a set 2,000 times with 20 keys, half of them absent: php count.php SET METHOD. Read by tools/bench/instructions.

declare(strict_types=1);

require __DIR__ . '/keys.php';

[, $set_name, $method] = $argv;
$set = new KeySieve\Set($set_name);
if ($set->availability() !== KeySieve\Availability::Ready) {
    fwrite(STDERR, "set $set_name is not ready\n");
    exit(1);
}
mt_srand(1);
$keys = page_keys(100_000);

for ($i = 0; $i < 2_000; ++$i) {
    if ($method === 'mayContain') {
        $set->mayContain($keys[$i % 20]);
    } else {
        $set->$method($keys);
    }
}
