<?php

// One host of tools/workshop/bench/seen_hosts, which starts the servers; with `report`, the table of what both hosts have printed.

declare(strict_types=1);

const DELAYS = ['0', '0.5', '1', '2', '3', '5']; // seconds until a key comes to the other host; for each of them 20 keys per second

if ($argv[1] === 'report') {
    echo '| other keys/s per host | seen after, median | longest | new on both, if again after ', implode(' s | ', DELAYS), " s | an add at most |\n";
    echo '|---:', str_repeat('|---:', count(DELAYS) + 3), "|\n";
    foreach (array_slice($argv, 2) as $others) {
        [$web1, $web2] = array_map(fn (string $host) => json_decode(file_get_contents("$host.$others.json"), true), ['web1', 'web2']);
        $seen = array_merge($web1['seen'], $web2['seen']);
        sort($seen);
        printf('| %s | %.2f s | %.2f s', number_format((int) $others), $seen[intdiv(count($seen), 2)], end($seen));
        $new = [];
        foreach ($web1['new'] as $key => $on_web1) {
            $new[strtok($key, ' ')][] = $on_web1 + ($web2['new'][$key] ?? 0);
        }
        foreach (DELAYS as $delay) {
            if (count(array_keys($new[$delay], 0)) > count($new[$delay]) / 100) {
                fwrite(STDERR, "too many keys were new nowhere\n");
                exit(1);
            }
            printf(' | %.1f %%', 100 * count(array_keys($new[$delay], 2)) / count($new[$delay]));
        }
        printf(" | %.0f ms late |\n", 1000 * max($web1['late'], $web2['late']));
    }
    exit;
}

[, $host, $begin, $seconds, $others] = $argv;
mt_srand((int) $begin); // both hosts draw the same
$moment = fn (): float => mt_rand() / mt_getrandmax() * $seconds;
$is_first = fn (): bool => 'web' . mt_rand(1, 2) === $host;
$adds = $probes = [];
foreach (DELAYS as $delay) {
    for ($i = 0; $i < 20 * $seconds; ++$i) {
        $adds[] = [$moment() + ($is_first() ? 0 : (float) $delay), "$delay $i"];
    }
}
for ($i = 0; $i < $seconds; ++$i) {
    $at = $moment();
    $is_first() ? $adds[] = [$at, "probe $i"] : $probes["probe $i"] = $at; // the other asks for it from that moment on
}
sort($adds);

time_sleep_until((float) $begin);
$set = new KeySieve\SeenSet('clicks');
$new = $seen = [];
$added = $next = $late = 0;
while (($now = microtime(true) - $begin) < $seconds + max(DELAYS) + 1 || $probes) {
    if ($now > $seconds + 60 || $set->availability() !== KeySieve\Availability::Ready) {
        fwrite(STDERR, "$host: the set is {$set->availability()->name}, and " . count($probes) . " keys of the other host are missing\n");
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
    if (($due = (int) ($others * $now) - $added) > 0) {
        $set->addManyIfNew(str_split(random_bytes(16 * $due), 16));
        $added += $due;
    }
    usleep(500);
}
echo json_encode(['new' => $new, 'seen' => $seen, 'late' => $late]);
