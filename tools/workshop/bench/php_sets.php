<?php

// A set from PHP alone: what it takes to build it, and to ask it 20 keys, half of them absent, in a process that has just started and in
// one that is kept. Times are the process's own. Without JIT, in a folder that is removed:
//
//   php -d memory_limit=200M tools/workshop/bench/php_sets.php [KEYS]...

declare(strict_types=1);

use KeySieve\Build\Builder;
use KeySieve\Reader\Settings;
use KeySieve\Set;

require __DIR__ . '/../../../php/bootstrap.php';

/** In microseconds. */
function processor_time(): float
{
    $usage = getrusage();
    return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1e6 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
}

/** In microseconds per call. */
function time_of(int $calls, callable $call): float
{
    $began = processor_time();
    for ($i = 0; $i < $calls; ++$i) {
        $call();
    }
    return (processor_time() - $began) / $calls;
}

if ($argc === 4 && $argv[1] === '--ask') { // --ask FOLDER CALLS
    $keys = array_map(static fn (int $key): string => 'key number ' . ($key % 2 === 0 ? $key : -$key), range(1, 20));
    Settings::use("files:$argv[2]");
    $asks = static fn (): array => (new Set('keys'))->mayContainMany($keys);
    $first = time_of(1, $asks);
    echo $argv[3] === '1' ? $first : time_of((int) $argv[3], $asks);
    exit(array_sum($asks()) < 10 ? 1 : 0);
}
foreach (array_map(intval(...), array_slice($argv, 1)) ?: [100_000, 1_000_000, 10_000_000] as $count) {
    $folder = sys_get_temp_dir() . '/php_sets.' . bin2hex(random_bytes(4));
    mkdir($folder);
    memory_reset_peak_usage();
    $builds = time_of(1, static fn () => (new Builder('keys'))->add((static function () use ($count): iterable {
        for ($key = 0; $key < $count; ++$key) {
            yield "key number $key";
        }
    })())->write("$folder/keys.ks"));
    $asks = static fn (int $calls): float => (float) shell_exec(implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, __FILE__, '--ask', $folder, (string) $calls])));
    $cold = array_sum(array_map($asks, array_fill(0, 20, 1))) / 20;
    printf("%10s keys: built in %.2f s and %d MiB; 20 keys cold in %.0f us, warm in %.1f us\n", number_format($count), $builds / 1e6, memory_get_peak_usage(true) >> 20, $cold, $asks(10_000));
    array_map(unlink(...), glob("$folder/*") ?: []);
    rmdir($folder);
}
