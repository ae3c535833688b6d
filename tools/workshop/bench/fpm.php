<?php

// Lets pages with all methods take turns under load, with the php-fpm and the nginx of the tests.
// php fpm.php FOLDER COUNT ROUNDS SECONDS; FOLDER has the stores of tools/workshop/bench/run, with COUNT keys.

declare(strict_types=1);

require __DIR__ . '/../../../php-tests/bootstrap.php';
require __DIR__ . '/methods.php';

use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Nginx;

const EXTENSIONS = ['igbinary', 'msgpack', 'redis', 'memcached', 'apcu', 'dba', 'sqlite3'];
const SETTINGS = [
    'opcache.jit' => 'off', 'opcache.memory_consumption' => '512', 'opcache.interned_strings_buffer' => '64', 'opcache.validate_timestamps' => '0',
    'memory_limit' => '-1', 'max_execution_time' => '0', 'apc.shm_size' => '512M',
];
const CONNECTIONS = 8;

/** Methods of the part `php` that are not compared here, and new names for some others. */
const LEFT_OUT = '/sum$|package|private|apcu_exists\(\), 20 calls|default/';
const NAMES = [
    'empty foreach over the keys' => 'a script that makes 20 keys and asks nobody',
    'CDB by dba' => 'CDB by dba, opened per request',
    'LMDB by dba' => 'LMDB by dba, opened per request',
    'SQLite, one prepared SELECT … IN' => 'SQLite, opened per request',
];

[, $folder, $count, $rounds, $seconds] = $argv;

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

$pools = ['pages' => ['pm.max_children' => trim(shell_exec('nproc'))]];
$pool = new FpmPool(
    "require '" . __DIR__ . "/methods.php';
    \$place = new Place(\$_GET['method'], $count, '$folder');
    if (isset(\$_GET['fill'])) {
        fill(\$place);
        write_ask_file(\$place);
    } else {
        echo (require \$place->ask)([page_keys($count)], open(\$place), \$place);
    }",
    $pools,
    settings: SETTINGS + ['apc.entries_hint' => $count, 'extension' => EXTENSIONS],
);
$bare_pool = new FpmPool(
    "require '" . __DIR__ . "/methods.php';
    use_package('$folder');
    \$keys = page_keys($count);
    echo count(ready('keys-$count')->candidates(\$keys));",
    $pools,
    settings: SETTINGS,
    isBare: true,
);
file_put_contents("$folder/empty.php", '<?php');
$nginx = new Nginx($pool, "location = /empty {
    fastcgi_param SCRIPT_FILENAME $folder/empty.php;
    fastcgi_param REQUEST_METHOD \$request_method;
    fastcgi_pass unix:$pool->socket;
}");

$urls = ['an empty script' => "{$nginx->url}empty"];
foreach (preg_grep(LEFT_OUT, array_keys(METHODS), PREG_GREP_INVERT) as $i => $method) {
    $name = NAMES[$method] ?? $method;
    fwrite(STDERR, "filling for $name\n");
    $urls[$name] = "$nginx->url?method=" . rawurlencode($method);
    get("$urls[$name]&fill=1");
    if ((int) get($urls[$name]) === 0 && $i !== 0) {
        throw new RuntimeException("$name finds none of 20 keys");
    }
}

$bare_nginx = new Nginx($bare_pool);
$urls['the package in PHP, candidates()'] = $bare_nginx->url;
if ((int) get($bare_nginx->url) === 0) {
    throw new RuntimeException('the package finds none of 20 keys');
}

array_map(fn (string $page) => requests_per_second($page, '1'), $urls); // warms up
$rates = by_turns((int) $rounds, $urls, function (string $page, int $round) use ($seconds): float {
    fwrite(STDERR, "round $round: $page\n");
    return requests_per_second($page, $seconds);
});
$rows = $bars = [];
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
