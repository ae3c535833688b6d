<?php

// What it takes to build from a list of keys, in time and memory: every method in turn, in rounds; medians.
// php build.php FOLDER_OF_PROGRAMS WORK_FOLDER KEYS "SIZE..." ROUNDS

declare(strict_types=1);

namespace KeySieve\Bench;

require_once __DIR__ . '/figures.php';

const LIMIT_OF_MEMORY = '800M';
const KINDS = ['split_block_bloom', 'blocked_bloom', 'bloom', 'cuckoo', 'ribbon'];
const KEYS_PER_COMMAND = 500;

function short_count(int $count): string
{
    return $count >= 1_000_000 ? $count / 1_000_000 . ' million' : number_format($count);
}

/** What a command has cost: seconds of the clock and of processors, and its largest size in memory. */
final class Cost
{
    public function __construct(
        public readonly float $seconds,
        public readonly float $cpu,
        public readonly float $megabytes,
    ) {
    }

    /** @param self[] $costs */
    public static function median(array $costs): self
    {
        $of = static fn (string $field) => median(array_column($costs, $field));
        return new self($of('seconds'), $of('cpu'), $of('megabytes'));
    }
}

final class Work
{
    public function __construct(private readonly string $programs, private readonly string $folder)
    {
    }

    public function path(string $name): string
    {
        return "$this->folder/$name";
    }

    public function run(string $command): void
    {
        exec("set -e; cd $this->folder; $command", $output, $status);
        if ($status !== 0) {
            throw new \RuntimeException("failed: $command");
        }
    }

    /** Of one program, whose exit status 0 is asked for. */
    public function cost(string $command): Cost
    {
        $began = hrtime(true);
        $this->run("/usr/bin/time -o cost -f '%U %S %M' $command >/dev/null");
        $seconds = (hrtime(true) - $began) / 1e9;
        [$user, $system, $kilobytes] = explode(' ', (string) file_get_contents($this->path('cost')));
        return new Cost($seconds, (float) $user + (float) $system, (float) $kilobytes * 1024 / 1e6);
    }

    public function make_keys(string $file, int $count): void
    {
        fwrite(STDERR, "making a list of " . short_count($count) . " keys\n");
        $this->run("$this->programs/key_list $count >$file; cat $file >/dev/null");
    }

    public function build(string $file, string $options): Cost
    {
        return $this->cost("$this->programs/keysieve build --set bench $options $file -o set.ks");
    }
}

/** Each method once per round. @param array<string, callable(): Cost> $methods @return array<string, Cost> */
function costs(array $methods, int $rounds): array
{
    $costs = [];
    for ($round = 1; $round <= $rounds; ++$round) {
        foreach ($methods as $name => $method) {
            fwrite(STDERR, "round $round of $rounds: $name\n");
            $costs[$name][] = $method();
        }
    }
    return array_map(Cost::median(...), $costs);
}

/** What the peers read: made once, not counted. */
function prepare_peers(Work $work): void
{
    $work->run("sed 's/$/ 1/' keys >keys.cdb");
    $work->run('awk \'NR % ' . KEYS_PER_COMMAND . ' == 1 { printf "%sSADD tags", (NR > 1 ? "\n" : "") }' .
        ' { printf " %s", $0 } END { print "" }\' keys >keys.redis');
    $work->run("redis-server --port 0 --unixsocket \$PWD/redis.sock --save '' --appendonly no --daemonize yes" .
        ' --dir $PWD --pidfile $PWD/redis.pid --logfile $PWD/redis.log');
    file_put_contents($work->path('keys.sql'), "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;\n" .
        "CREATE TABLE tags (name TEXT PRIMARY KEY) WITHOUT ROWID;\n.mode list\n.import keys tags\n");
    file_put_contents($work->path('apcu.php'), '<?php
        $file = fopen("keys", "r");
        while (($key = fgets($file)) !== false) {
            $some[rtrim($key, "\n")] = true;
            if (count($some) === 1000) { if (apcu_store($some) !== []) exit(1); $some = []; }
        }');
}

/** @return array<string, callable(): Cost> */
function peers(Work $work, int $keys): array
{
    $apcu = "-n -d extension=apcu -d apc.enable_cli=1 -d apc.shm_size=2G -d apc.entries_hint=$keys";
    return [
        'wc -l: reading alone' => fn () => $work->cost('wc -l keys'),
        'sort -u: a sorted list' => fn () => $work->cost('env LC_ALL=C sort -u -S 1G -o sorted keys'),
        'cdb -c: a CDB file' => fn () => $work->cost('cdb -c -m keys.result keys.cdb'),
        'sqlite3 .import: a table' => function () use ($work) {
            $work->run('rm -f keys.sqlite');
            return $work->cost('sqlite3 -init keys.sql keys.sqlite ""');
        },
        'redis-cli --pipe: a Redis set' => function () use ($work) {
            $work->run('redis-cli -s redis.sock flushall >/dev/null');
            return $work->cost('redis-cli -s redis.sock --pipe <keys.redis');
        },
        'apcu_store(array of 1,000): APCu' => fn () => $work->cost("php $apcu apcu.php"),
    ];
}

function describe(Cost $cost, int $keys): array
{
    return [three_digits($cost->seconds), three_digits($cost->cpu), three_digits($cost->seconds * 1e9 / $keys), three_digits($cost->megabytes)];
}

[, $programs, $folder, $key_count, $size_list, $round_count] = $argv;
$work = new Work($programs, $folder);
$keys = (int) $key_count;
$rounds = (int) $round_count;
$sizes = array_map('intval', explode(' ', $size_list));
$processors = min(2, (int) shell_exec('nproc'));

$work->make_keys('keys', $keys);
$methods = [];
foreach (KINDS as $kind) {
    foreach ([1, $processors] as $threads) {
        $methods["keysieve $kind, threads: $threads"] =
            fn () => $work->build('keys', "--kind $kind --threads $threads");
    }
}
prepare_peers($work);
try {
    $made = costs($methods + peers($work, $keys), $rounds);
} finally {
    $work->run('kill $(cat redis.pid)');
}
$work->run('rm -f keys* sorted');

$series = ['split_block_bloom' => '', 'split_block_bloom, --memory ' . LIMIT_OF_MEMORY => '--memory ' . LIMIT_OF_MEMORY,
    'ribbon' => '--kind ribbon'];
$grown = [];
foreach ($sizes as $size) {
    $work->make_keys('many', $size);
    $methods = array_map(fn (string $options) => fn () => $work->build('many', $options), $series);
    $grown[$size] = costs($methods, $size > 10_000_000 ? 1 : $rounds);
}

$rows = array_map(fn (string $name, Cost $cost) => [$name, ...describe($cost, $keys)], array_keys($made), $made);
$grown_rows = $lines = [];
foreach (array_keys($series) as $name) {
    foreach ($sizes as $size) {
        $grown_rows[] = [$name, short_count($size), ...describe($grown[$size][$name], $size)];
        $lines[$name][] = [$size, round($grown[$size][$name]->seconds * 1e9 / $size, 1)];
    }
}

$limited = 'split_block_bloom, --memory ' . LIMIT_OF_MEMORY;
$per_key = fn (int $size, string $name) => $grown[$size][$name]->seconds / $size;
$most = $sizes[count($sizes) - 1];
$base = $sizes[count($sizes) - 2];
$of = short_count($keys) . ' keys of 20 bytes from a file, ';
$columns = ['seconds', 'processor seconds', 'ns per key', 'memory, MB'];
echo json_encode([
    'settings' => [
        'Lists lie in the page cache; results are written to disk, those of keysieve synced as well. Rounds, of which medians: ' . $rounds . '.',
        'sort: LC_ALL=C, -S 1G. sqlite3: WITHOUT ROWID, journal_mode and synchronous off, cache_size 500 MB. Redis: unix socket, ' . KEYS_PER_COMMAND .
            ' keys per SADD, no persistence; seconds of its client, memory of its client alone. APCu: entries_hint as many as keys.',
        'Peers hold the keys themselves and answer exactly; snapshots are of the target FPR 1 %.',
    ],
    'tables' => [
        ['title' => "From a list of " . short_count($keys) . ' keys of 20 bytes to what answers for it',
            'columns' => ['method', ...$columns], 'rows' => $rows],
        ['title' => 'Building from longer and longer lists', 'columns' => ['keysieve build', 'keys', ...$columns],
            'rows' => $grown_rows],
    ],
    'plots' => [
        ['file' => 'build_methods', 'title' => 'Seconds from a list of ' . short_count($keys) . ' keys', 'note' => '',
            'bars' => ['title' => 'seconds', 'scale' => 'log',
                'rows' => array_map(fn (string $name, Cost $cost) => [$name, round($cost->seconds, 3)], array_keys($made), $made)]],
        ['file' => 'build_growth', 'title' => 'Time of a build per key', 'note' => '',
            'x' => ['title' => 'keys in the list', 'scale' => 'log'], 'y' => ['title' => 'ns per key', 'scale' => 'log'],
            'series' => array_map(fn (string $name) => ['name' => $name, 'points' => $lines[$name]], array_keys($series))],
    ],
    'checks' => [
        at_most($of . 'split_block_bloom', 0.3, $made["keysieve split_block_bloom, threads: $processors"]->seconds, ' s'),
        at_most($of . 'ribbon', 0.8, $made["keysieve ribbon, threads: $processors"]->seconds, ' s'),
        at_most('time per key with ' . short_count($most) . ' keys and --memory ' . LIMIT_OF_MEMORY . ', times that with ' .
            short_count($base) . ' keys', 2, $per_key($most, $limited) / $per_key($base, $limited), ''),
        at_most('memory with ' . short_count($most) . ' keys and --memory ' . LIMIT_OF_MEMORY, round(800 * 1.048576),
            $grown[$most][$limited]->megabytes, ' MB'),
    ],
], JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR), "\n";
