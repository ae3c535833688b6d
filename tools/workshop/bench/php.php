<?php

// Lets all methods take turns at a page of 20 keys, each in a process of its own.
// php php.php FOLDER EXTENSION SETS_DIRECTORY ROUNDS COUNT...; FOLDER has the output of hot.php and package.php, *.json

declare(strict_types=1);

require __DIR__ . '/methods.php';

const REFERENCE = 'keysieve, candidates()';
const PAGES_AT_A_TIME = 50;
const WARM_UP_NS = 10_000_000;
const ROUND_NS = 40_000_000;
const CHECKED_KEYS = 10_000;

final class Worker
{
    public readonly object $needs;
    private readonly array $pipes;
    private $process;

    public function __construct(string ...$command)
    {
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        $this->pipes = $pipes;
        $this->needs = json_decode($this->line(), flags: JSON_THROW_ON_ERROR);
    }

    public function nanoseconds_per_page(int $seed): float
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
        return fgets($this->pipes[1]) ?: throw new RuntimeException('a process that measures has ended');
    }
}

function megabytes(int $bytes): string
{
    return $bytes < 50_000 ? '–' : three_digits($bytes / 1e6) . ' MB';
}

function short(int $count): string
{
    return $count % 1_000_000 === 0 ? $count / 1_000_000 . 'M' : $count / 1000 . 'k';
}

/** The output of PHP with some extensions, which this process need not have. */
function said_by_php(string $code, string ...$extensions): string
{
    $options = array_merge(...array_map(fn (string $name): array => ['-d', "extension=$name"], $extensions));
    return run(PHP_BINARY, '-n', ...$options, ...['-r', "echo $code;"]);
}

function version_of(string $program): string
{
    preg_match('/[\d.]{3,}/', run($program, '--version'), $found);
    return $found[0];
}

/** @return string[][] pages of that many keys from $first on */
function pages_from(int $first): array
{
    return array_chunk(array_map(key_number(...), range($first, $first + CHECKED_KEYS - 1)), KEYS_OF_A_PAGE);
}

/** Nanoseconds per page; making the keys is not timed. */
function ask_for(callable $ask, int $count, int $nanoseconds): float
{
    for ($taken = $asked = 0; $taken < $nanoseconds; $asked += PAGES_AT_A_TIME) {
        $pages = array_map(fn (): array => page_keys($count), range(1, PAGES_AT_A_TIME));
        $taken += time_of(fn () => $ask($pages));
    }
    return $taken / $asked;
}

/**
 * A process that asks with one method. It reports its needs once it is ready, then answers each line on standard input, the
 * seed of a round, with the nanoseconds that a page of keys took.
 */
function ask_by_turns(Place $place): void
{
    fill($place);
    write_ask_file($place);
    $loop = require $place->ask;
    gc_mem_caches();
    $before = memory_kib('Anonymous');
    $it = open($place);
    $private = 1024 * (memory_kib('Anonymous') - $before);
    $ask = fn (array $pages): int => $loop($pages, $it, $place);

    $present = $ask(pages_from(0));
    if ($present !== CHECKED_KEYS && $place->method !== array_key_first(METHODS)) {
        fwrite(STDERR, "$place->method finds $present of " . CHECKED_KEYS . " keys that are in the set\n");
        exit(1);
    }
    $wrong = $ask(pages_from($place->count));
    echo json_encode(['private' => $private, 'shared' => shared_bytes($place, $it), 'fpr' => $wrong / CHECKED_KEYS]), "\n";

    while (($seed = fgets(STDIN)) !== false) {
        mt_srand((int) $seed);
        ask_for($ask, $place->count, WARM_UP_NS);
        echo ask_for($ask, $place->count, ROUND_NS), "\n";
    }
}

if ($argv[1] === 'worker') { // as this script calls itself
    ask_by_turns(new Place($argv[2], (int) $argv[3], $argv[4]));
    exit(0);
}

[, $folder, $extension, $sets, $rounds] = $argv;
$counts = array_map(intval(...), array_slice($argv, 5));
$largest = max($counts);
$needs = $medians = $ratios = [];
foreach ($counts as $count) {
    $workers = [];
    foreach (METHODS as $name => [, , $own_settings]) {
        fprintf(STDERR, "%s keys: %s\n", number_format($count), $name);
        $settings = ['memory_limit=-1', 'display_errors=stderr', 'zend_extension=opcache', 'opcache.enable_cli=1', 'opcache.jit=off', 'apc.enable_cli=1',
            'apc.shm_size=1G', ...$own_settings];
        $options = array_map(fn (string $setting): string => '-d' . sprintf($setting, $count, $extension, $sets), $settings);
        $workers[$name] = new Worker(PHP_BINARY, '-n', ...$options, ...[__FILE__, 'worker', $name, (string) $count, $folder]);
        $needs[$name] = $workers[$name]->needs; // keeps those of the largest
    }
    $times = by_turns((int) $rounds, $workers, fn (Worker $worker, int $round): float => $worker->nanoseconds_per_page($round));
    foreach ($times as $name => $own) {
        $medians[$count][$name] = median($own) / 1000;
        $ratios[$count][$name] = median(array_map(fn (float $time, float $reference): float => $time / $reference, $own, $times[REFERENCE]));
    }
    array_map(fn (Worker $worker) => $worker->end(), $workers);
}

$columns = ['method'];
$rows = $bars = [];
foreach ($counts as $count) {
    array_push($columns, short($count) . ' keys: µs', '× candidates()');
}
foreach (array_keys(METHODS) as $i => $name) {
    $times = array_map(fn (int $count): array => [three_digits($medians[$count][$name]), three_digits($ratios[$count][$name])], $counts);
    $fpr = $i === 0 ? '–' : three_digits(100 * $needs[$name]->fpr) . ' %';
    $rows[] = [$name, ...array_merge(...$times), $fpr, megabytes($needs[$name]->private), megabytes($needs[$name]->shared)];
    $bars[] = [$name, rounded($medians[$largest][$name])];
}

[$hot, $package] = array_map(
    fn (string $file): array => json_decode(file_get_contents("$folder/$file.json"), true, flags: JSON_THROW_ON_ERROR),
    ['hot', 'package'],
);
print_part([
    'one process per method, which take turns by rounds; keys of 20 bytes, made while no time is taken, drawn from all keys of the set and as many absent ones',
    ...$package['settings'],
    'opcache.enable_cli=1, opcache.jit=off; for the array in opcache: opcache.memory_consumption=1024, opcache.interned_strings_buffer=128',
    'APCu ' . said_by_php("phpversion('apcu')", 'apcu') . ': apc.shm_size=1G, apc.entries_hint = number of keys; by default it is 4096',
    'Bloom in PHP: k = 6; 6,500 keys in 8 KB, 800 in 1 KB; crc32; one apcu_fetch() per key',
    'CDB and LMDB by dba on tmpfs; SQLite ' . said_by_php("SQLite3::version()['versionString']", 'sqlite3') . ': WITHOUT ROWID, read-only, locking_mode=exclusive, mmap_size=1G, on tmpfs',
    'Redis ' . version_of('redis-server') . ', unix socket, phpredis ' . said_by_php("phpversion('redis')", 'igbinary', 'redis') . ': bits of a Bloom filter with k = 6 and 10 bits per key; a set',
    'memcached ' . version_of('memcached') . ', unix socket, PECL memcached ' . said_by_php("phpversion('memcached')", 'igbinary', 'msgpack', 'memcached') . ', -m 512, -t 1, -o hashpower=20',
], [
    table('A page asks for 20 keys, half of them absent', [...$columns, 'measured FPR', short($largest) . ' keys: per process', 'shared'], $rows),
    ...$hot['tables'],
    ...$package['tables'],
], [
    bars('php_methods', 'A page asks for 20 keys of ' . short($largest), 'µs', 'log', $bars),
]);
