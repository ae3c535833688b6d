<?php

// How long an added key takes from the store to PHP: adds.php BIN POLL_MS ROUNDS [SET URL]..., with stores of which keysieved hears at
// once. Fails if it does not: if one add in a hundred takes more than a hundredth of the poll.

declare(strict_types=1);

require __DIR__ . '/bench.php';

const MOST_OF_THE_POLL = 0.01;
const MOST_SECONDS = 60;

[, $bin, $poll, $rounds] = $argv;
$rows = $late = [];
foreach (array_chunk(array_slice($argv, 4), 2) as [$name, $url]) {
    $set = ready($name);
    $took = [];
    for ($round = 0; $round < (int) $rounds; ++$round) {
        run("$bin/keysieve", 'add', $name, "key-$round", $url);
        $took[] = time_of(static function () use ($set, $round): void {
            for ($end = hrtime(true) + MOST_SECONDS * SECOND; !$set->mayContain("key-$round");) {
                hrtime(true) < $end || throw new RuntimeException("key-$round does not come");
            }
        });
    }
    [$half, $most] = [at_share($took, 0.5) / 1e6, at_share($took, 0.99) / 1e6];
    $rows[] = [$name, three_digits($half) . ' ms', three_digits($most) . ' ms', three_digits($most / (float) $poll)];
    $late = [...$late, ...$most > MOST_OF_THE_POLL * (float) $poll ? [$name] : []];
}
print_part(["poll_interval: $poll ms", "$rounds adds"], [table('An add, after `keysieve add` has ended', ['store', 'median', 'p99', 'p99 / poll'], $rows)], []);
exit($late === [] ? 0 : 1);
