<?php

// How long an added key takes from the store to PHP: adds.php BIN POLL_MS ADDS [SET URL]..., with stores of which keysieved hears at
// once. Fails if it does not: if one add in a hundred takes more than a tenth of the poll.

declare(strict_types=1);

require __DIR__ . '/keys.php';

const MOST_OF_THE_POLL = 0.1;
const MOST_NANOSECONDS = 60_000_000_000;

[, $bin, $poll, $adds] = $argv;
$late = false;
echo "poll_interval: $poll ms, $adds adds, each timed from the end of `keysieve add`\n\n| store | median | p99 | p99 / poll |\n|---|---:|---:|---:|\n";
foreach (array_chunk(array_slice($argv, 4), 2) as [$name, $url]) {
    $set = ready($name);
    $took = [];
    for ($add = 0; $add < (int) $adds; ++$add) {
        exec(implode(' ', array_map(escapeshellarg(...), ["$bin/keysieve", 'add', $name, "key-$add", $url])), $said, $status);
        $status === 0 || throw new RuntimeException(implode("\n", $said));
        $begin = hrtime(true);
        while (!$set->mayContain("key-$add")) {
            hrtime(true) - $begin < MOST_NANOSECONDS || throw new RuntimeException("key-$add does not come");
        }
        $took[] = (hrtime(true) - $begin) / 1e6;
    }
    sort($took);
    [$half, $most] = [$took[intdiv(count($took), 2)], $took[intdiv(count($took) * 99, 100)]];
    printf("| %s | %.2f ms | %.2f ms | %.5f |\n", $name, $half, $most, $most / (float) $poll);
    $late = $late || $most > MOST_OF_THE_POLL * (float) $poll;
}
exit($late ? 1 : 0);
