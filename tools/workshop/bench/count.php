<?php

// Calls one method of a set or map 2,000 times: php count.php SET METHOD. Half of 20 keys are absent; in a seen set, half are new.
// Read by tools/workshop/bench/instructions.

declare(strict_types=1);

require __DIR__ . '/keys.php';

[, $set_name, $method] = $argv;
$isSeen = str_starts_with($method, 'add');
$isMap = str_starts_with($method, 'get');
$set = match (true) {
    $isSeen => new KeySieve\SeenSet($set_name),
    $isMap => new KeySieve\Map($set_name),
    default => ready($set_name),
};
$more = $isMap ? [static fn () => throw new LogicException('unknown')] : [];
mt_srand(1);
$keys = page_keys(100_000);
$set->availability(); // attaches

for ($i = 0; $i < 2_000; ++$i) {
    $ask = $isSeen ? array_map(fn (string $key, int $n): string => $n % 2 === 0 ? $key : "$key $i", $keys, array_keys($keys)) : $keys;
    $set->$method(str_contains($method, 'Many') || $method === 'candidates' ? $ask : $ask[$i % 20], ...$more);
}
