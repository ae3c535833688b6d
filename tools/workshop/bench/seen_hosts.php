<?php

// One host of tools/workshop/bench/seen_hosts, which starts the servers; with `report`, the table of what all hosts have printed.

declare(strict_types=1);

const HOSTS = ['web1', 'web2', 'web3', 'web4'];
const DELAYS = ['0', '0.05', '0.2', '1', '3', '5']; // seconds until a key comes to another host; for each of them 20 keys per second

function report(int $seconds, string $interval, string $others): string
{
    $hosts = array_map(fn (string $host) => json_decode(file_get_contents("$host.$interval.$others.json"), true), HOSTS);
    $seen = array_merge(...array_column($hosts, 'seen'));
    sort($seen);
    $new = [];
    foreach ($hosts as $host) {
        foreach ($host['new'] as $key => $isNew) {
            $new[strtok($key, ' ')][$key] = ($new[strtok($key, ' ')][$key] ?? 0) + $isNew;
        }
    }
    [$in, $out, $inAfter, $outAfter] = explode(' ', trim(file_get_contents("bytes.$interval.$others")));
    $row = sprintf('| %s | %s | %.2f s | %.2f s', $interval, number_format((int) $others), $seen[intdiv(count($seen), 2)], end($seen));
    foreach (DELAYS as $delay) {
        if (count(array_keys($new[$delay], 0)) > count($new[$delay]) / 100) {
            fwrite(STDERR, "too many keys were new nowhere\n");
            exit(1);
        }
        $row .= sprintf(' | %.1f %%', 100 * count(array_keys($new[$delay], 2)) / count($new[$delay]));
    }
    return $row . sprintf(
        " | %.1f kB | %.1f kB | %.0f ms late |\n",
        ($inAfter - $in) / $seconds / 1000,
        ($outAfter - $out) / $seconds / 1000,
        1000 * max(array_column($hosts, 'late')),
    );
}

if ($argv[1] === 'report') {
    echo '| save_interval | other keys/s | seen by another host after, median | longest | new on both, if again after ',
        implode(' s | ', DELAYS), " s | into Redis per second | out of it | an add at most |\n";
    echo '|---|---:', str_repeat('|---:', count(DELAYS) + 5), "|\n";
    foreach (array_slice($argv, 3) as $interval) {
        echo report((int) $argv[2], $interval, '0'), report((int) $argv[2], $interval, '5000');
    }
    exit;
}

[, $host, $begin, $seconds, $others] = $argv;
mt_srand((int) $begin); // all hosts draw the same
$moment = fn (): float => mt_rand() / mt_getrandmax() * $seconds;
$adds = $probes = [];
foreach (DELAYS as $delay) {
    for ($i = 0; $i < 20 * $seconds; ++$i) {
        $at = $moment();
        $first = mt_rand(0, 3);
        $second = ($first + mt_rand(1, 3)) % 4;
        $host === HOSTS[$first] && $adds[] = [$at, "$delay $i"];
        $host === HOSTS[$second] && $adds[] = [$at + (float) $delay, "$delay $i"];
    }
}
for ($i = 0; $i < 4 * $seconds; ++$i) {
    $at = $moment();
    HOSTS[mt_rand(0, 3)] === $host ? $adds[] = [$at, "probe $i"] : $probes["probe $i"] = $at; // the others ask for it from that moment on
}
sort($adds);

time_sleep_until((float) $begin);
$set = new KeySieve\SeenSet('clicks');
$new = $seen = [];
$added = $next = $late = 0;
$others = $host === HOSTS[0] ? $others : 0;
while (($now = microtime(true) - $begin) < $seconds + max(DELAYS) + 1 || $probes) {
    if ($now > $seconds + 60 || $set->availability() !== KeySieve\Availability::Ready) {
        fwrite(STDERR, "$host: the set is {$set->availability()->name}, and " . count($probes) . " keys of other hosts are missing\n");
        exit(1);
    }
    for (; $next < count($adds) && $adds[$next][0] <= $now; ++$next) {
        [$at, $key] = $adds[$next];
        $new[$key] = (int) $set->addIfNew("$begin $key");
        $late = max($late, $now - $at);
    }
    foreach ($probes as $key => $at) {
        if ($at <= $now && $set->mayContain("$begin $key")) {
            $seen[] = $now - $at;
            unset($probes[$key]);
        }
    }
    if ($now < $seconds && ($due = (int) ($others * $now) - $added) > 0) {
        $set->addManyIfNew(str_split(random_bytes(16 * $due), 16));
        $added += $due;
    }
    usleep(500);
}
echo json_encode(['new' => $new, 'seen' => $seen, 'late' => $late]);
