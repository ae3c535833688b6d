<?php

// What the parts of tools/workshop/bench/run share: figures, what a part prints, and keys.

declare(strict_types=1);

require __DIR__ . '/plots.php';

const KEYS_OF_A_PAGE = 20;

/** @param float[] $values */
function median(array $values): float
{
    sort($values);
    return ($values[intdiv(count($values) - 1, 2)] + $values[intdiv(count($values), 2)]) / 2;
}

function rounded(float $value): float
{
    return $value == 0 ? 0.0 : round($value, 2 - (int) floor(log10(abs($value))));
}

/** A number with three significant digits. */
function three_digits(float $value): string
{
    $decimals = $value == 0 ? 0 : max(0, 2 - (int) floor(log10(abs(rounded($value)))));
    return number_format(rounded($value), $decimals);
}

/** The results of $measure for each subject, lists by name; the subjects take turns in each round. */
function by_turns(int $rounds, array $subjects, callable $measure): array
{
    $figures = [];
    for ($round = 1; $round <= $rounds; ++$round) {
        foreach ($subjects as $name => $subject) {
            $figures[$name][] = $measure($subject, $round);
        }
    }
    return $figures;
}

/** @param string[] $cells */
function row(array $cells): string
{
    return '| ' . implode(' | ', $cells) . " |\n";
}

function table(string $title, array $columns, array $rows): string
{
    return "**$title**\n\n" . row($columns) . '|---' . str_repeat('|---:', count($columns) - 1) . "|\n" . implode(array_map(row(...), $rows));
}

/** Prints what a part has measured as Markdown. $plots: of bars(). */
function print_part(array $settings, array $tables, array $plots): void
{
    echo implode($plots), implode("\n", $tables), "\n- ", implode("\n- ", [...$settings, 'measured on ' . gmdate('Y-m-d')]), "\n";
}

/** The output of a command. */
function run(string ...$command): string
{
    exec(implode(' ', array_map(escapeshellarg(...), $command)), $lines, $status);
    if ($status !== 0) {
        throw new RuntimeException("$command[0] has ended with $status");
    }
    return implode("\n", $lines);
}

/** Nanoseconds. */
function time_of(callable $work): int
{
    $began = hrtime(true);
    $work();
    return hrtime(true) - $began;
}

/** The memory of this process, from /proc. */
function memory_kib(string $field): int
{
    preg_match("/^$field:\s+(\d+) kB/m", file_get_contents('/proc/self/smaps_rollup'), $found);
    return (int) $found[1];
}

/** A PHP file that opcache caches at once: it skips files that are newer than two seconds. */
function write_php(string $file, string $code): void
{
    file_put_contents($file, "<?php $code");
    touch($file, time() - 60);
}

/** Loads the package in PHP, which finds its sets as files in that folder. */
function use_package(string $folder): void
{
    require __DIR__ . '/../../../php/bootstrap.php';
    KeySieve\Reader\Settings::use("files:$folder");
}

function ready(string $name): KeySieve\Set
{
    $set = new KeySieve\Set($name);
    if ($set->availability() !== KeySieve\Availability::Ready) {
        throw new RuntimeException("set $name is not ready");
    }
    return $set;
}

/** A key of 20 bytes; the first N are in the set. A fresh string each time, so that PHP has not hashed it yet. */
function key_number(int $number): string
{
    return 'tag:' . hash('xxh3', pack('P', $number));
}

/** @return string[] the keys of one page: half of them absent on average, the others from anywhere in the set */
function page_keys(int $count): array
{
    $keys = [];
    for ($i = 0; $i < KEYS_OF_A_PAGE; ++$i) {
        $keys[] = key_number(mt_rand(0, 2 * $count - 1));
    }
    return $keys;
}

/** @return iterable<string[]> all keys of the set, by the thousand */
function keys_by_thousand(int $count): iterable
{
    for ($first = 0; $first < $count; $first += 1000) {
        yield array_map(key_number(...), range($first, min($first + 1000, $count) - 1));
    }
}
