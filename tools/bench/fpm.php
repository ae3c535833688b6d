<?php

// Lets pages with all methods take turns under load: php fpm.php URL ROUNDS SECONDS. The URL serves empty.php and page.php
// of tools/bench/run.

declare(strict_types=1);

require __DIR__ . '/methods.php';

const CONNECTIONS = 8;

/** Methods of the part `php` that are not compared here, and what others are called. */
const LEFT_OUT = '/sum$|private|apcu_exists\(\), 20 calls|default/';
const NAMES = [
    'empty foreach over the keys' => 'a script that makes 20 keys and asks nobody',
    'CDB by dba' => 'CDB by dba, opened per request',
    'LMDB by dba' => 'LMDB by dba, opened per request',
    'SQLite, one prepared SELECT … IN' => 'SQLite, opened per request',
];

[, $url, $rounds, $seconds] = $argv;

function get(string $url): string
{
    $answer = file_get_contents($url, context: stream_context_create(['http' => ['timeout' => 300]]));
    if ($answer === false || preg_match('/error|warning/i', $answer) === 1) {
        throw new RuntimeException("$url: $answer");
    }
    return $answer;
}

function requests_per_second(string $url, string $seconds): float
{
    $report = run('wrk', '-t', '1', '-c', (string) CONNECTIONS, '-d', "{$seconds}s", $url);
    if (preg_match('/Non-2xx|Socket errors/', $report) === 1 || preg_match('/Requests\/sec: +([\d.]+)/', $report, $found) !== 1) {
        throw new RuntimeException("$url: $report");
    }
    return (float) $found[1];
}

$urls = ['an empty script' => "$url/empty.php"];
foreach (preg_grep(LEFT_OUT, array_keys(METHODS), PREG_GREP_INVERT) as $i => $method) {
    $name = NAMES[$method] ?? $method;
    fwrite(STDERR, "filling for $name\n");
    $urls[$name] = "$url/page.php?method=" . rawurlencode($method);
    get("$urls[$name]&fill=1");
    if ((int) get($urls[$name]) === 0 && $i !== 0) {
        throw new RuntimeException("$name finds none of 20 keys");
    }
}

$rates = $rows = $bars = [];
array_map(fn (string $page) => requests_per_second($page, '1'), $urls); // warms up
for ($round = 1; $round <= (int) $rounds; ++$round) {
    fwrite(STDERR, "round $round of $rounds\n");
    foreach ($urls as $name => $page) {
        $rates[$name][] = requests_per_second($page, $seconds);
    }
}
foreach ($rates as $name => $own) {
    $relative = median(array_map(fn (float $rate, float $empty): float => $rate / $empty, $own, $rates['an empty script']));
    $rows[] = [$name, three_digits(median($own)), three_digits($relative)];
    $bars[] = [$name, rounded($relative)];
}

print_part([
    'nginx with one process, php-fpm on a unix socket; pm = static, one worker per processor; wrk with ' . CONNECTIONS . ' connections',
    'opcache.validate_timestamps=0, opcache.jit=off; Redis and memcached by persistent connections to unix sockets; the rest as in the part php, 100k keys',
], [
    table('Requests that ask for 20 keys of 100k', ['page', 'requests/s', '× empty script'], $rows),
], [
    bars('fpm_requests', 'php-fpm: requests per second, relative to an empty script', '× empty script', 'linear', $bars),
]);
