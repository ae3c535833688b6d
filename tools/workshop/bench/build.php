<?php

// Time and memory of a build from a list of keys: every method in turn, in rounds; medians.
// php build.php FOLDER_OF_PROGRAMS WORK_FOLDER KEYS "SIZE..." ROUNDS; a Redis listens at redis.sock in the work folder.

declare(strict_types=1);

require __DIR__ . '/bench.php';

const LIMIT = '--memory 800M';
const KEYS_PER_COMMAND = 500;
const COLUMNS = ['seconds', 'processor seconds', 'ns per key', 'memory, MB'];

[, $programs, $folder, $keys, $size_list, $rounds] = $argv;
chdir($folder);
$keys = (int) $keys;
$sizes = array_map(intval(...), explode(' ', $size_list));
$processors = min(2, (int) shell_exec('nproc'));

function short_count(int $count): string
{
    return $count >= 1_000_000 ? $count / 1_000_000 . ' million' : number_format($count);
}

/** @return float[] seconds of the clock and of processors, and the largest size in memory in MB, of one program */
function cost(string $command): array
{
    $began = hrtime(true);
    shell("/usr/bin/time -o cost -f '%U %S %M' $command >/dev/null");
    $seconds = (hrtime(true) - $began) / SECOND;
    [$user, $system, $kilobytes] = explode(' ', file_get_contents('cost'));
    return [$seconds, (float) $user + (float) $system, (float) $kilobytes * 1024 / 1e6];
}

/** For each method: a command, and its preparation, which does not count. */
function median_costs(array $methods, int $rounds): array
{
    return array_map(column_medians(...), by_turns($rounds, $methods, function (array $method): array {
        [$command, $before] = $method;
        fwrite(STDERR, "$command\n");
        shell($before);
        return cost($command);
    }));
}

function describe(array $cost, int $keys): array
{
    return array_map(three_digits(...), [$cost[0], $cost[1], $cost[0] * 1e9 / $keys, $cost[2]]);
}

function make_keys(string $file, int $count): void
{
    fwrite(STDERR, 'making a list of ' . short_count($count) . " keys\n");
    shell("seq -f %016.0f $count | rev | sed s/^/key-/ >$file; cat $file >/dev/null"); // in no order
}

// Input of the peers: made once, not measured.
make_keys('keys', $keys);
shell("sed 's/$/ 1/' keys >keys.cdb");
shell('awk \'NR % ' . KEYS_PER_COMMAND . ' == 1 { printf "%sSADD tags", (NR > 1 ? "\n" : "") } { printf " %s", $0 } END { print "" }\' keys >keys.redis');
file_put_contents('keys.sql', "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;\n" .
    "CREATE TABLE tags (name TEXT PRIMARY KEY) WITHOUT ROWID;\n.mode list\n.import keys tags\n");
file_put_contents('apcu.php', '<?php
    $file = fopen("keys", "r");
    while (($key = fgets($file)) !== false) {
        $some[rtrim($key, "\n")] = true;
        if (count($some) === 1000) { if (apcu_store($some) !== []) exit(1); $some = []; }
    }');

$plan = json_decode(run("$programs/keysieve", 'plan', '--keys', (string) $keys, '--json'), true);
$methods = [];
foreach (array_column($plan['kinds'], 'kind') as $kind) { // the usual ones
    foreach ([1, $processors] as $threads) {
        $methods["keysieve $kind, threads: $threads"] = ["$programs/keysieve build --set bench --kind $kind --threads $threads keys -o set.ks", ''];
    }
}
$methods += [
    'wc -l: reading alone' => ['wc -l keys', ''],
    'sort -u: a sorted list' => ['env LC_ALL=C sort -u -S 1G -o sorted keys', ''],
    'cdb -c: a CDB file' => ['cdb -c -m keys.result keys.cdb', ''],
    'sqlite3 .import: a table' => ['sqlite3 -init keys.sql keys.sqlite ""', 'rm -f keys.sqlite'],
    'redis-cli --pipe: a Redis set' => ['redis-cli -s redis.sock --pipe <keys.redis', 'redis-cli -s redis.sock flushall >/dev/null'],
    'apcu_store(array of 1,000): APCu' => ["php -n -d extension=apcu -d apc.enable_cli=1 -d apc.shm_size=2G -d apc.entries_hint=$keys apcu.php", ''],
];
$made = median_costs($methods, (int) $rounds);
shell('rm -f keys* sorted');

$series = ['split_block_bloom' => '', 'split_block_bloom, ' . LIMIT => LIMIT, 'ribbon' => '--kind ribbon'];
foreach ($sizes as $size) {
    make_keys('many', $size);
    $methods = array_map(fn (string $options): array => ["$programs/keysieve build --set bench $options many -o set.ks", ''], $series);
    $grown[$size] = median_costs($methods, $size > 10_000_000 ? 1 : (int) $rounds);
}

$rows = $bars = $grown_rows = $lines = [];
foreach ($made as $name => $cost) {
    $rows[] = [$name, ...describe($cost, $keys)];
    $bars[] = [$name, round($cost[0], 3)];
}
foreach (array_keys($series) as $name) {
    foreach ($sizes as $size) {
        $grown_rows[] = [$name, short_count($size), ...describe($grown[$size][$name], $size)];
        $lines[$name][] = [$size, round($grown[$size][$name][0] * 1e9 / $size, 1)];
    }
}

print_part([
    "Lists are in the page cache; results are written to disk, those of keysieve synced as well. Medians of $rounds rounds.",
    'sort: LC_ALL=C, -S 1G. sqlite3: WITHOUT ROWID, journal_mode and synchronous off, cache_size 500 MB. Redis: unix socket, ' . KEYS_PER_COMMAND .
        ' keys per SADD, no persistence; seconds of its client, memory of its client alone. APCu: entries_hint as many as keys.',
    'The others hold the keys themselves and answer exactly; snapshots have a target FPR of 1 %.',
], [
    table('From a list of ' . short_count($keys) . ' keys of 20 bytes to what answers for it', ['method', ...COLUMNS], $rows),
    table('Building from longer and longer lists', ['keysieve build', 'keys', ...COLUMNS], $grown_rows),
], [
    bars('build_methods', 'Seconds from a list of ' . short_count($keys) . ' keys', 'seconds', 'log', $bars),
    lines('build_growth', 'Time of a build per key', ['keys in the list', 'log'], ['ns per key', 'log'], $lines),
]);
