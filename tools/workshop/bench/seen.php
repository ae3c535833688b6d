<?php

// The methods of tools/workshop/bench/seen, which starts the servers. Working directory: where their sockets are.

declare(strict_types=1);

use KeySieve\SeenSet;

function redis(): Redis
{
    $redis = new Redis();
    $redis->connect(getcwd() . '/redis.sock');
    return $redis;
}

function mariadb(): PDO
{
    return new PDO('mysql:unix_socket=' . getcwd() . '/mariadb.sock;dbname=seen', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

function sqlite(): PDO
{
    $sqlite = new PDO('sqlite:' . getcwd() . '/seen.sqlite');
    $sqlite->exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 60000');
    return $sqlite;
}

/** What adds one key with a unique index: true if it was new. */
function insert(PDO $database, string $insert): Closure
{
    $statement = $database->prepare($insert);
    return function (string $key) use ($statement): bool {
        $statement->execute([$key]);
        return $statement->rowCount() === 1;
    };
}

/** Each key of a list on its own. */
function each_key(Closure $add): Closure
{
    return function (array $keys) use ($add): int {
        $new = 0;
        foreach ($keys as $key) {
            $new += $add($key) ? 1 : 0;
        }
        return $new;
    };
}

/** A Bloom filter of 2^30 bits in Redis, k = 7: one SETBIT per bit, all keys in one pipeline. */
function setbits(): Closure
{
    $redis = redis();
    return function (array $keys) use ($redis): int {
        $pipe = $redis->pipeline();
        foreach ($keys as $key) {
            [, $a, $b] = unpack('V2', hash('xxh64', $key, true));
            for ($i = 0; $i < 7; ++$i) {
                $pipe->setBit('bloom', ($a + $i * $b) & (2 ** 30 - 1), true);
            }
        }
        $new = 0;
        foreach (array_chunk($pipe->exec(), 7) as $bits) {
            $new += in_array(0, $bits, true) ? 1 : 0;
        }
        return $new;
    };
}

/** How to make what adds a list of keys in one call. */
function seen_set(string $name): Closure
{
    return function () use ($name): Closure {
        $set = new SeenSet($name);
        return fn (array $keys): int => array_sum($set->addManyIfNew($keys));
    };
}

/** Name => [how to make what adds a list of keys, number of keys per measurement, and in each list]. */
$methods = [
    'SeenSet, 1 window, addIfNew' => [fn () => each_key((new SeenSet('one'))->addIfNew(...)), 400_000],
    'SeenSet, 1 window, addManyIfNew of 100' => [seen_set('one'), 400_000, 100],
    'SeenSet at 1e-4, addManyIfNew of 100' => [seen_set('e4'), 400_000, 100],
    'SeenSet at 1e-6, addManyIfNew of 100' => [seen_set('e6'), 400_000, 100],
    'SeenSet at 1e-9, addManyIfNew of 100' => [seen_set('e9'), 400_000, 100],
    'SeenSet, 10 windows, addIfNew' => [fn () => each_key((new SeenSet('ten'))->addIfNew(...)), 200_000],
    'apcu_add (one php-fpm alone)' => [fn () => each_key(fn (string $key): bool => apcu_add($key, 1)), 200_000],
    'Redis, SET NX' => [fn () => each_key((function () {
        $redis = redis();
        return fn (string $key): bool => $redis->set($key, '1', ['nx', 'ex' => 600]) === true;
    })()), 20_000],
    'Redis, SETBIT × 7 for 100 keys at a time' => [setbits(...), 20_000, 100],
    'SQLite, unique index' => [fn () => each_key(insert(sqlite(), 'INSERT OR IGNORE INTO seen VALUES (?)')), 20_000],
    'MariaDB, unique index' => [fn () => each_key(insert(mariadb(), 'INSERT IGNORE INTO seen VALUES (?)')), 10_000],
];

/** Keys of which half were added before, so about half are new. */
function keys_of(int $from, int $count): array
{
    $keys = [];
    for ($i = 0; $i < $count; ++$i) {
        $keys[] = 'click-' . ($from + intdiv($i, 2)) . '-0123456789abcdef';
    }
    return $keys;
}

/** Seconds for each of so many processes, which begin together. */
function seconds(Closure $make, int $processes, int $from, int $count, int $atATime): array
{
    $pairs = $pids = [];
    for ($p = 0; $p < $processes; ++$p) {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $pid = pcntl_fork();
        if ($pid === 0) {
            $add = $make();
            $keys = keys_of($from + $p * $count, $count);
            $lists = array_chunk($keys, $atATime);
            $others = keys_of($from + ($processes + $p) * $count, intdiv($count, 2));
            array_map($add, array_chunk($others, $atATime)); // a worker has long touched all memory
            fwrite($pair[1], "ready\n");
            fgets($pair[1]);
            $begin = hrtime(true);
            $new = 0;
            foreach ($lists as $list) {
                $new += $add($list);
            }
            fwrite($pair[1], (hrtime(true) - $begin) . ' ' . $new . "\n");
            exit(0);
        }
        $pairs[] = $pair[0];
        $pids[] = $pid;
    }
    array_map(fgets(...), $pairs);
    array_map(fn ($pair) => fwrite($pair, "go\n"), $pairs);
    $seconds = [];
    foreach ($pairs as $i => $pair) {
        [$ns, $new] = explode(' ', trim(fgets($pair)));
        if (abs((int) $new - $count / 2) > $count / 100) {
            fwrite(STDERR, "found $new new keys instead of " . $count / 2 . "\n");
            exit(1);
        }
        $seconds[] = $ns / 1e9;
        pcntl_waitpid($pids[$i], $status);
    }
    return $seconds;
}

sqlite()->exec('CREATE TABLE seen (name TEXT PRIMARY KEY) WITHOUT ROWID');
mariadb()->exec('CREATE TABLE seen (name VARBINARY(255) PRIMARY KEY) ENGINE=InnoDB');
apcu_add('the segment is made before any process is forked', 1);

$methods = array_filter($methods, fn (string $name): bool => str_starts_with($name, $argv[2]), ARRAY_FILTER_USE_KEY);
$rates = [];
$from = 0;
for ($round = 1; $round <= (int) $argv[1]; ++$round) {
    foreach ($methods as $name => $method) {
        [$make, $count] = $method;
        foreach ([1, 2] as $processes) {
            $rates[$name][$processes][] = $processes * $count / max(seconds($make, $processes, $from, $count, $method[2] ?? $count));
            $from += 4 * $count;
        }
    }
    fwrite(STDERR, "round $round of $argv[1]\n");
}

$median = function (array $values): float {
    sort($values);
    return $values[intdiv(count($values), 2)];
};
$base = isset($rates['Redis, SET NX']) ? $median($rates['Redis, SET NX'][1]) : NAN;
printf("| method | adds/s, 1 process | adds/s, 2 processes | 1 process, SET NX = 1 |\n|---|---|---|---|\n");
foreach ($rates as $name => $by_processes) {
    [$one, $two] = [$median($by_processes[1]), $median($by_processes[2])];
    printf("| %s | %s | %s | %.1f |\n", $name, number_format($one), number_format($two), $one / $base);
}
