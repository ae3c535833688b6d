<?php

// Lets all methods take turns at a page of 20 keys, each in a process of its own.
// php php.php FOLDER EXTENSION SETS_DIRECTORY ROUNDS COUNT...

declare(strict_types=1);

require __DIR__ . '/methods.php';

const REFERENCE = 'keysieve, candidates()';
const PAGES_AT_A_TIME = 50;
const WARM_UP_NS = 10_000_000;
const ROUND_NS = 40_000_000;
const CHECKED_KEYS = 10_000;
const PACKAGES = ['redis-server', 'memcached', 'libsqlite3-0', 'php[0-9]*-apcu', 'php[0-9]*-redis', 'php[0-9]*-memcached'];

function megabytes(int $bytes): string
{
    return $bytes < 50_000 ? '–' : three_digits($bytes / 1e6) . ' MB';
}

function short(int $count): string
{
    return $count % 1_000_000 === 0 ? $count / 1_000_000 . 'M' : $count / 1000 . 'k';
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
 * A process that asks with one method. It prints its needs as JSON once it is ready, then answers each line on standard input, the
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

function said_by(array $pipes): string
{
    return fgets($pipes[1]) ?: throw new RuntimeException('a process that measures has ended');
}

if ($argv[1] === 'worker') { // as this script calls itself
    ask_by_turns(new Place($argv[2], (int) $argv[3], $argv[4]));
    exit(0);
}

[, $folder, $extension, $sets, $rounds] = $argv;
$columns = ['method'];
$cells = array_fill_keys(array_keys(METHODS), []);
foreach (array_map(intval(...), array_slice($argv, 5)) as $count) { // the last one is the largest
    $workers = $processes = [];
    foreach (METHODS as $name => [, , $own_settings]) {
        fprintf(STDERR, "%s keys: %s\n", number_format($count), $name);
        $settings = ['memory_limit=-1', 'display_errors=stderr', 'zend_extension=opcache', 'opcache.enable_cli=1', 'opcache.jit=off', 'apc.enable_cli=1',
            'apc.shm_size=1G', ...$own_settings];
        $options = array_map(fn (string $setting): string => '-d' . sprintf($setting, $count, $extension, $sets), $settings);
        $processes[] = proc_open([PHP_BINARY, '-n', ...$options, __FILE__, 'worker', $name, (string) $count, $folder], [['pipe', 'r'], ['pipe', 'w'], STDERR], $workers[$name]);
        $needs[$name] = json_decode(said_by($workers[$name]), flags: JSON_THROW_ON_ERROR);
    }
    $times = by_turns((int) $rounds, $workers, function (array $pipes, int $round): float {
        fwrite($pipes[0], "$round\n");
        return (float) said_by($pipes);
    });
    array_push($columns, short($count) . ' keys: µs', '× candidates()');
    $bars = [];
    foreach ($times as $name => $own) {
        $ratio = median(array_map(fn (float $time, float $reference): float => $time / $reference, $own, $times[REFERENCE]));
        array_push($cells[$name], three_digits(median($own) / 1000), three_digits($ratio));
        $bars[] = [$name, rounded(median($own) / 1000)];
    }
    array_map(fn (array $pipes) => fclose($pipes[0]), $workers); // which ends them
    array_map(proc_close(...), $processes);
}
foreach ($needs as $name => $own) {
    $fpr = $name === array_key_first(METHODS) ? '–' : three_digits(100 * $own->fpr) . ' %';
    $rows[] = [$name, ...$cells[$name], $fpr, megabytes($own->private), megabytes($own->shared)];
}

print_part([
    'one process per method, which take turns by rounds; keys of 20 bytes, made while no time is taken, drawn from all keys of the set and as many absent ones',
    'opcache.enable_cli=1, opcache.jit=off; for the array in opcache: opcache.memory_consumption=1024, opcache.interned_strings_buffer=128',
    'APCu: apc.shm_size=1G, apc.entries_hint = number of keys; by default it is 4096',
    'Bloom in PHP: k = 6; 6,500 keys in 8 KB, 800 in 1 KB; crc32; one apcu_fetch() per key',
    'CDB and LMDB by dba on tmpfs; SQLite: WITHOUT ROWID, read-only, locking_mode=exclusive, mmap_size=1G, on tmpfs',
    'Redis and memcached on unix sockets, memcached with -m 512, -t 1, -o hashpower=20',
    run('dpkg-query', '-W', '-f', '${Package} ${Version}, ', ...PACKAGES) . 'the package in PHP keeps all of a set of 1M keys',
], [
    table('A page asks for 20 keys, half of them absent', [...$columns, 'measured FPR', short($count) . ' keys: per process', 'shared'], $rows),
], [
    bars('php_methods', 'A page asks for 20 keys of ' . short($count), 'µs', 'log', $bars),
]);
