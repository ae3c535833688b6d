<?php

// Lets all methods take turns, and prints what tools/bench/run wants of the part `php`:
// php compare.php FOLDER EXTENSION SETS_DIRECTORY ROUNDS HOT_JSON COUNT...

declare(strict_types=1);

require __DIR__ . '/json.php';

[, $folder, $extension, $sets, $rounds, $hot] = $argv;
$counts = array_map(intval(...), array_slice($argv, 6));

const REFERENCE = 'KeysieveCandidates';

/** What each is called, and what its process is started with. */
$methods = [
    'EmptyLoop' => ['empty foreach over the keys', []],
    'KeysieveSingle' => ['keysieve, 20 calls', []],
    'KeysieveBatch' => ['keysieve, mayContainMany() and its sum', []],
    'KeysieveCandidates' => ['keysieve, candidates()', []],
    'PrivateArray' => ['isset on a private array', []],
    'OpcacheArray' => ['isset on an array in opcache', ['opcache.memory_consumption=1024', 'opcache.interned_strings_buffer=128']],
    'ApcuSingle' => ['apcu_exists(), 20 calls', ['extension=apcu', 'apc.entries_hint=%d']],
    'ApcuArray' => ['apcu_exists(array)', ['extension=apcu', 'apc.entries_hint=%d']],
    'ApcuSingleDefault' => ['apcu_exists(), 20 calls, default entries_hint', ['extension=apcu']],
    'ApcuArrayDefault' => ['apcu_exists(array), default entries_hint', ['extension=apcu']],
    'LargeShards' => ['2014: Bloom shards of 8 KB in APCu', ['extension=apcu', 'apc.entries_hint=%d']],
    'SmallShards' => ['2014: Bloom shards of 1 KB in APCu', ['extension=apcu', 'apc.entries_hint=%d']],
    'Cdb' => ['CDB by dba', ['extension=dba']],
    'Lmdb' => ['LMDB by dba', ['extension=dba']],
    'Sqlite' => ['SQLite, one prepared SELECT … IN', ['extension=sqlite3']],
    'RedisBits' => ['Redis, 120 GETBIT in one pipeline', ['extension=igbinary', 'extension=redis']],
    'RedisSet' => ['Redis, SMISMEMBER', ['extension=igbinary', 'extension=redis']],
    'MemcachedItems' => ['memcached, getMulti()', ['extension=igbinary', 'extension=msgpack', 'extension=memcached']],
];

final class Worker
{
    public readonly object $needs;
    private readonly array $pipes;
    private $process;

    public function __construct(array $command)
    {
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        $this->pipes = $pipes;
        $this->needs = json_decode($this->line(), flags: JSON_THROW_ON_ERROR);
    }

    public function nanosecondsPerPage(int $seed): float
    {
        fwrite($this->pipes[0], "$seed\n");
        return (float) $this->line();
    }

    public function end(): void
    {
        array_map(fclose(...), $this->pipes);
        proc_close($this->process);
    }

    private function line(): string
    {
        $line = fgets($this->pipes[1]);
        if ($line === false) {
            throw new RuntimeException('a process that measures has ended');
        }
        return $line;
    }
}

$needs = $medians = $ratios = [];
foreach ($counts as $count) {
    $workers = [];
    foreach ($methods as $class => [, $settings]) {
        fprintf(STDERR, "%s keys: %s\n", number_format($count), $class);
        $command = [PHP_BINARY, '-n', '-d', 'memory_limit=-1', '-d', 'display_errors=stderr', '-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1',
            '-d', 'opcache.jit=off', '-d', 'apc.enable_cli=1', '-d', 'apc.shm_size=1G',
            '-d', "extension=$extension", '-d', "keysieve.directory=$sets"];
        foreach ($settings as $setting) {
            array_push($command, '-d', sprintf($setting, $count));
        }
        $workers[$class] = new Worker([...$command, __DIR__ . '/worker.php', $class, (string) $count, $folder]);
        $needs[$count][$class] = $workers[$class]->needs;
    }
    $times = [];
    for ($round = 1; $round <= (int) $rounds; ++$round) {
        foreach ($workers as $class => $worker) {
            $times[$class][] = $worker->nanosecondsPerPage($round);
        }
    }
    $medians[$count] = array_map(median(...), $times);
    foreach ($times as $class => $of_class) {
        $of_rounds = array_map(fn (float $own, float $reference): float => $own / $reference, $of_class, $times[REFERENCE]);
        $ratios[$count][$class] = median($of_rounds);
    }
    array_map(fn (Worker $worker) => $worker->end(), $workers);
}

$short = fn (int $count): string => $count % 1_000_000 === 0 ? $count / 1_000_000 . 'M' : $count / 1000 . 'k';
$largest = max($counts);

$columns = ['method'];
foreach ($counts as $count) {
    array_push($columns, "{$short($count)} keys: µs", '× candidates()');
}
array_push($columns, 'measured FPR', "{$short($largest)} keys: per process", 'shared');
$rows = [];
foreach ($methods as $class => [$name]) {
    $row = [$name];
    foreach ($counts as $count) {
        array_push($row, three_digits($medians[$count][$class] / 1000), three_digits($ratios[$count][$class]));
    }
    $of_largest = $needs[$largest][$class];
    array_push(
        $row,
        $class === 'EmptyLoop' ? '–' : three_digits(100 * $of_largest->fpr) . ' %',
        megabytes($of_largest->private),
        megabytes($of_largest->shared),
    );
    $rows[] = $row;
}

$hot = json_decode($hot, true, flags: JSON_THROW_ON_ERROR);
$above = fn (string $call, string $floor): float => $hot[$call] - $hot[$floor];
$hot_rows = [
    ['empty method that takes a string', three_digits($hot['empty method']), '–'],
    ['mayContain()', three_digits($hot['mayContain']), three_digits($above('mayContain', 'empty method'))],
    ['empty method that takes an array and returns 20 bools', three_digits($hot['empty batch method']), '–'],
    ['mayContainMany() of 20', three_digits($hot['mayContainMany']), three_digits($above('mayContainMany', 'empty batch method'))],
    ['candidates() of 20', three_digits($hot['candidates']), three_digits($above('candidates', 'empty batch method'))],
];

$ratio = fn (string $class): float => $ratios[$largest][$class];
$checks = [
    at_most('hot mayContain(), ns above an empty method that takes a string', 6, $above('mayContain', 'empty method')),
    at_most('hot mayContainMany() of 20, ns above an empty batch method', 110, $above('mayContainMany', 'empty batch method')),
    at_most('hot candidates() of 20, ns above an empty batch method', 110, $above('candidates', 'empty batch method')),
    at_least("20 keys of {$short($largest)}: times faster than tuned apcu_exists(array)", 5, $ratio('ApcuArray')),
    at_least("20 keys of {$short($largest)}: times faster than the 2014 way", 7, min($ratio('LargeShards'), $ratio('SmallShards'))),
    at_least("20 keys of {$short($largest)}: times faster than any socket", 15, min($ratio('RedisBits'), $ratio('RedisSet'), $ratio('MemcachedItems'))),
    at_least("20 keys of {$short($largest)}: times faster than isset on a private array", 3, $ratio('PrivateArray')),
];

$bars = [];
foreach ($methods as $class => [$name]) {
    $bars[] = [$name, rounded($medians[$largest][$class] / 1000)];
}

echo json_encode([
    'settings' => [
        'one process per method, which take turns by rounds; keys of 20 bytes, made while no time is taken, drawn from all keys of the set and as many absent ones',
        'opcache.enable_cli=1, opcache.jit=off; for the array in opcache: opcache.memory_consumption=1024, opcache.interned_strings_buffer=128',
        'APCu ' . phpversion_of('apcu') . ': apc.shm_size=1G, apc.entries_hint = number of keys; by default it is 4096',
        'the 2014 way: k = 6; 6,500 keys in 8 KB, 800 in 1 KB; crc32; one apcu_fetch() per key',
        'CDB and LMDB by dba on tmpfs; SQLite ' . sqlite_version() . ': WITHOUT ROWID, read-only, locking_mode=exclusive, mmap_size=1G, on tmpfs',
        'Redis ' . version_of('redis-server --version', '/v=([\d.]+)/') . ', unix socket, phpredis ' . phpversion_of('redis') . ': bits of a Bloom filter with k = 6 and 10 bits per key; a set',
        version_of('memcached --version', '/^(memcached [\d.]+)/') . ', unix socket, PECL memcached ' . phpversion_of('memcached') . ', -m 512, -t 1, -o hashpower=20',
    ],
    'tables' => [
        ['title' => 'A page asks for 20 keys, half of them absent', 'columns' => $columns, 'rows' => $rows],
        ['title' => 'Hot calls, ns above an empty loop', 'columns' => ['call', 'ns', 'above the empty method'], 'rows' => $hot_rows],
    ],
    'plots' => [[
        'file' => 'php_methods',
        'title' => "A page asks for 20 keys of {$short($largest)}",
        'bars' => ['title' => 'µs', 'scale' => 'log', 'rows' => $bars],
    ]],
    'checks' => $checks,
], JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT), "\n";
