<?php

// Lets pages with all methods take turns under load, and prints what tools/bench/run wants of the part `fpm`:
// php fpm.php URL ROUNDS SECONDS. The URL serves empty.php and page.php of tools/bench/fpm.

declare(strict_types=1);

require __DIR__ . '/json.php';

[, $url, $rounds, $seconds] = $argv;

const CONNECTIONS = 8;

$methods = [
    'EmptyLoop' => 'a script that makes 20 keys and asks nobody',
    'KeysieveSingle' => 'keysieve, 20 calls',
    'KeysieveCandidates' => 'keysieve, candidates()',
    'OpcacheArray' => 'isset on an array in opcache',
    'ApcuArray' => 'apcu_exists(array)',
    'LargeShards' => '2014: Bloom shards of 8 KB in APCu',
    'SmallShards' => '2014: Bloom shards of 1 KB in APCu',
    'Cdb' => 'CDB by dba, opened per request',
    'Lmdb' => 'LMDB by dba, opened per request',
    'Sqlite' => 'SQLite, opened per request',
    'RedisBits' => 'Redis, 120 GETBIT in one pipeline',
    'RedisSet' => 'Redis, SMISMEMBER',
    'MemcachedItems' => 'memcached, getMulti()',
];

function get(string $url): string
{
    $answer = file_get_contents($url, context: stream_context_create(['http' => ['timeout' => 300]]));
    if ($answer === false || preg_match('/error|warning/i', $answer) === 1) {
        fwrite(STDERR, "$url: $answer\n");
        exit(1);
    }
    return $answer;
}

function requests_per_second(string $url, string $seconds): float
{
    $report = shell_exec(sprintf('wrk -t 1 -c %d -d %ss %s', CONNECTIONS, $seconds, escapeshellarg($url)));
    if (preg_match('/Non-2xx|Socket errors/', $report) === 1 || preg_match('/Requests\/sec: +([\d.]+)/', $report, $found) !== 1) {
        fwrite(STDERR, "$url: $report\n");
        exit(1);
    }
    return (float) $found[1];
}

$urls = ['empty' => "$url/empty.php"];
foreach (array_keys($methods) as $class) {
    fwrite(STDERR, "filling for $class\n");
    get("$url/page.php?fill=$class");
    $urls[$class] = "$url/page.php?method=$class";
    if ($class !== 'EmptyLoop' && (int) get($urls[$class]) === 0) {
        fwrite(STDERR, "$class finds none of 20 keys\n");
        exit(1);
    }
}

$rates = [];
for ($round = -1; $round < (int) $rounds; ++$round) { // the first one warms up
    fprintf(STDERR, "round %d\n", $round + 1);
    foreach ($urls as $class => $page) {
        $rate = requests_per_second($page, $round < 0 ? '1' : $seconds);
        if ($round >= 0) {
            $rates[$class][] = $rate;
        }
    }
}

$rows = [];
foreach (['empty' => 'an empty script'] + $methods as $class => $name) {
    $relative = array_map(fn (float $own, float $empty): float => $own / $empty, $rates[$class], $rates['empty']);
    $rows[] = [$name, three_digits(median($rates[$class])), three_digits(median($relative))];
    $bars[] = [$name, rounded(median($relative))];
}

echo json_encode([
    'settings' => [
        'nginx with one process, php-fpm on a unix socket; pm = static, one worker per processor; wrk with ' . CONNECTIONS . ' connections',
        'opcache.validate_timestamps=0, opcache.jit=off; Redis and memcached by persistent connections to unix sockets; the rest as in the part php, 100k keys',
    ],
    'tables' => [['title' => 'Requests that ask for 20 keys of 100k', 'columns' => ['page', 'requests/s', '× empty script'], 'rows' => $rows]],
    'plots' => [[
        'file' => 'fpm_requests',
        'title' => 'php-fpm: requests per second, relative to an empty script',
        'bars' => ['title' => '× empty script', 'rows' => $bars],
    ]],
    'checks' => [],
], JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT), "\n";
