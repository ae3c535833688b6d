<?php

// A process that asks by one method: php worker.php CLASS COUNT FOLDER. Says what it needs once it is ready, then answers
// each line on standard input, the seed of a round, with the nanoseconds that a page of keys took.

declare(strict_types=1);

require __DIR__ . '/methods.php';

const PAGES_AT_A_TIME = 50;
const WARM_UP_NS = 10_000_000;
const ROUND_NS = 40_000_000;

[, $class, $count, $folder] = $argv;
$place = new Place((int) $count, $folder);

function anonymous_bytes(): int
{
    preg_match('/^Anonymous: +(\d+) kB/m', file_get_contents('/proc/self/smaps_rollup'), $found);
    return 1024 * (int) $found[1];
}

/** @return string[][] */
function pages_of(int $first, int $count): array
{
    return array_chunk(array_map(key_number(...), range($first, $first + $count - 1)), KEYS_OF_A_PAGE);
}

/** Nanoseconds per page; keys are made while no time is taken. */
function ask_for(Method $method, int $count, int $nanoseconds): float
{
    $taken = $asked = 0;
    while ($taken < $nanoseconds) {
        $pages = [];
        for ($i = 0; $i < PAGES_AT_A_TIME; ++$i) {
            $pages[] = page_keys($count);
        }
        $began = hrtime(true);
        $method->ask($pages);
        $taken += hrtime(true) - $began;
        $asked += PAGES_AT_A_TIME;
    }
    return $taken / $asked;
}

$class::fill($place);
gc_mem_caches();
$before = anonymous_bytes();
$method = new $class($place);
$private = anonymous_bytes() - $before;

$asked = 10_000;
$present = $method->ask(pages_of(0, $asked));
if ($present !== $asked && $class !== EmptyLoop::class) {
    fwrite(STDERR, "$class finds $present of $asked keys that are in the set\n");
    exit(1);
}
$wrong = $method->ask(pages_of($place->count, $asked));
echo json_encode(['private' => $private, 'shared' => $method->sharedBytes(), 'fpr' => $wrong / $asked]), "\n";

while (($seed = fgets(STDIN)) !== false) {
    mt_srand((int) $seed);
    ask_for($method, $place->count, WARM_UP_NS);
    echo ask_for($method, $place->count, ROUND_NS), "\n";
}
