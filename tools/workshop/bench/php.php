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
const PACKAGES = "redis-server memcached libsqlite3-0 'php[0-9]*-apcu' 'php[0-9]*-redis' 'php[0-9]*-memcached'";

/** @param float[] $values */
function median(array $values): float
{
    sort($values);
    return ($values[intdiv(count($values) - 1, 2)] + $values[intdiv(count($values), 2)]) / 2;
}

/** A number with three significant digits. */
function three_digits(float $value): string
{
    $decimals = $value == 0 ? 0 : 2 - (int) floor(log10(abs($value)));
    return number_format(round($value, $decimals), max(0, $decimals));
}

/** @param string[] $cells */
function row(array $cells): string
{
    return '| ' . implode(' | ', $cells) . " |\n";
}

/** The memory of this process, from /proc. */
function anonymous_bytes(): int
{
    preg_match('/^Anonymous:\s+(\d+) kB/m', file_get_contents('/proc/self/smaps_rollup'), $found);
    return 1024 * (int) $found[1];
}

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
        $began = hrtime(true);
        $ask($pages);
        $taken += hrtime(true) - $began;
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
    $before = anonymous_bytes();
    $it = open($place);
    $private = anonymous_bytes() - $before;
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

/** In single quotes gnuplot takes every byte as it is. */
function quoted(string $text): string
{
    return "'" . str_replace("'", "''", $text) . "'";
}

/** Draws a bar for each method with gnuplot, as an SVG file; those of keysieve stand out. @param array<string, float> $values */
function draw(string $file, string $title, array $values): void
{
    $names = $data = $labels = [];
    foreach (array_keys($values) as $i => $name) {
        $names[] = quoted($name) . " $i";
        $data[] = "$values[$name] $i " . (str_starts_with($name, 'keysieve') ? 1 : 2) . "\n";
        $labels[] = 'set label ' . quoted(three_digits($values[$name])) . " at $values[$name],$i left offset 0.5,0\n";
    }
    $start = min($values) / 2;
    $process = proc_open(['gnuplot'], [['pipe', 'r']], $pipes);
    fwrite($pipes[0], 'set terminal svg noenhanced size 960,' . 150 + 26 * count($values) . " dynamic background 'white' font 'sans-serif,14'\n"
        . 'set output ' . quoted($file) . "\nset title " . quoted($title) . "\nset grid\nset format '%.12g'\nset logscale x\nset xlabel 'µs'\n"
        . implode($labels) . "\$bars << end\n" . implode($data) . "end\n"
        . 'set ytics (' . implode(', ', $names) . ") nomirror\nset yrange [" . count($values) - 0.5 . ":-0.5]\nset rmargin 12\nset style fill solid 0.7\nset nokey\n"
        . "plot \$bars using ($start):2:($start):1:(\$2-0.35):(\$2+0.35):3 with boxxyerror linecolor variable\n");
    fclose($pipes[0]);
    proc_close($process) === 0 || throw new RuntimeException('gnuplot has failed');
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
    $times = [];
    for ($round = 1; $round <= (int) $rounds; ++$round) {
        foreach ($workers as $name => $pipes) {
            fwrite($pipes[0], "$round\n");
            $times[$name][] = (float) said_by($pipes);
        }
    }
    array_push($columns, short($count) . ' keys: µs', '× candidates()');
    $microseconds = [];
    foreach ($times as $name => $own) {
        $ratio = median(array_map(fn (float $time, float $reference): float => $time / $reference, $own, $times[REFERENCE]));
        $microseconds[$name] = median($own) / 1000;
        array_push($cells[$name], three_digits($microseconds[$name]), three_digits($ratio));
    }
    array_map(fn (array $pipes) => fclose($pipes[0]), $workers); // which ends them
    array_map(proc_close(...), $processes);
}
foreach ($needs as $name => $own) {
    $fpr = $name === array_key_first(METHODS) ? '–' : three_digits(100 * $own->fpr) . ' %';
    $rows[] = [$name, ...$cells[$name], $fpr, megabytes($own->private), megabytes($own->shared)];
}

draw(__DIR__ . '/../../../build/bench/php_methods.svg', 'A page asks for 20 keys of ' . short($count), $microseconds);
$columns = [...$columns, 'measured FPR', short($count) . ' keys: per process', 'shared'];
echo "**A page asks for 20 keys, half of them absent**\n\n", row($columns), '|---', str_repeat('|---:', count($columns) - 1), "|\n";
echo implode(array_map(row(...), $rows));
echo "\n- ", implode("\n- ", [
    'one process per method, which take turns by rounds; keys of 20 bytes, made while no time is taken, drawn from all keys of the set and as many absent ones',
    'opcache.enable_cli=1, opcache.jit=off; for the array in opcache: opcache.memory_consumption=1024, opcache.interned_strings_buffer=128',
    'APCu: apc.shm_size=1G, apc.entries_hint = number of keys; by default it is 4096',
    'Bloom in PHP: k = 6; 6,500 keys in 8 KB, 800 in 1 KB; crc32; one apcu_fetch() per key',
    'CDB and LMDB by dba on tmpfs; SQLite: WITHOUT ROWID, read-only, locking_mode=exclusive, mmap_size=1G, on tmpfs',
    'Redis and memcached on unix sockets, memcached with -m 512, -t 1, -o hashpower=20',
    shell_exec("dpkg-query -W -f '\${Package} \${Version}, ' " . PACKAGES) . 'the package in PHP keeps all of a set of 1M keys',
]), "\n";
