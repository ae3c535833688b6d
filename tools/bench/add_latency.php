<?php

// One client that adds keys to a set by XADD, and asks keysieve until the answer is maybe: prints how long each took.
// php add_latency.php SOCKET SET SAMPLES; the environment says where keysieve's shared memory lies.

declare(strict_types=1);

const PAUSE_US = 50;        // between two looks, so that the loader has a processor
const DEADLINE_S = 10.0;
const BETWEEN_ADDS_US = 20_000;

[, $socket, $set, $samples] = $argv;
$redis = stream_socket_client("unix://$socket");
$tags = new KeySieve\Set($set);
if ($tags->availability() !== KeySieve\Availability::Ready) {
    fwrite(STDERR, "set $set is not ready\n");
    exit(1);
}

/** @param string[] $words */
function command($redis, array $words): string
{
    $request = '*' . count($words) . "\r\n";
    foreach ($words as $word) {
        $request .= '$' . strlen($word) . "\r\n$word\r\n";
    }
    fwrite($redis, $request);
    $reply = fgets($redis);
    if ($reply[0] !== '$') {
        fwrite(STDERR, "XADD: $reply");
        exit(1);
    }
    return stream_get_contents($redis, (int) substr($reply, 1) + 2);
}

$milliseconds = [];
while (count($milliseconds) < (int) $samples) {
    $key = 'added-' . bin2hex(random_bytes(8));
    if ($tags->mayContain($key)) {
        continue; // a false positive tells nothing
    }
    $began = hrtime(true);
    command($redis, ['XADD', "keysieve:$set:adds", '*', 'key', $key]);
    while (!$tags->mayContain($key)) {
        if (hrtime(true) - $began > DEADLINE_S * 1e9) {
            fwrite(STDERR, "$key was added and is absent after " . DEADLINE_S . " s\n");
            exit(1);
        }
        usleep(PAUSE_US);
    }
    $milliseconds[] = (hrtime(true) - $began) / 1e6;
    usleep(BETWEEN_ADDS_US);
}
sort($milliseconds);
$at = fn (float $share): float => $milliseconds[(int) floor($share * (count($milliseconds) - 1))];
printf(
    "%d adds: median %.2f ms, p99 %.2f ms, longest %.2f ms\n",
    count($milliseconds), $at(0.5), $at(0.99), $at(1.0),
);
