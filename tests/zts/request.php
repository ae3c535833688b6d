<?php

declare(strict_types=1);

use KeySieve\Set;

// A request of tests/zts/threads_test.cpp looks up keys of the set, keys that have been added, and others. It returns how many
// keys of the set came back as absent, how many of the others did, and which publication is attached (0: none).

const KEYS_OF_THE_SET = 2_000; // as in threads_test.cpp
const KEYS_OF_A_REQUEST = 20;

return static function (int $added): array {
    $set = new Set('pages');
    $present = [];
    for ($count = 0; $count < KEYS_OF_A_REQUEST; ++$count) {
        $present[] = 'key ' . random_int(0, KEYS_OF_THE_SET - 1);
        if ($added > 0) {
            $present[] = 'added ' . random_int(0, $added - 1);
            $present[] = 'added ' . max(0, $added - 1 - $count);
        }
    }
    $wrong = count($present) - count($set->candidates($present));
    foreach ($present as $key) {
        if (!$set->mayContain($key) || !KeySieve\may_contain('pages', $key)) {
            ++$wrong;
        }
    }
    $others = array_map(static fn (): string => bin2hex(random_bytes(8)), range(1, KEYS_OF_A_REQUEST));
    $absent = count(array_keys($set->mayContainMany($others), false, true));

    return [$wrong, $absent, $set->info()?->publication ?? 0];
};
