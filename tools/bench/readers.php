<?php

// Processes that ask for 20 keys again and again, and write down when and how long each request took. What
// refresh.php and contention.php have in common.

declare(strict_types=1);

namespace KeySieve\Bench;

require_once __DIR__ . '/figures.php';

const KEYS_PER_REQUEST = 20;
const SECOND = 1_000_000_000;

/** Fresh strings, half of them members of a set of the keys 1 to $size. */
function request(int $size): array
{
    $keys = [];
    for ($i = 0; $i < KEYS_PER_REQUEST; ++$i) {
        $keys[] = (string) mt_rand(1, 2 * $size);
    }
    return $keys;
}

/**
 * Forks readers that call $ask with the keys of a request from $from to $until (hrtime), pausing about $pause_us after
 * each, so that they leave the processors idle most of the time: else what is measured is the scheduler.
 *
 * @return array{int[], string[]} process ids, and the files that measured() reads
 */
function start_readers(int $readers, int $size, int $from, int $until, int $pause_us, callable $ask, string $folder): array
{
    $children = $files = [];
    for ($reader = 0; $reader < $readers; ++$reader) {
        $files[] = $file = "$folder/$reader";
        $child = pcntl_fork();
        if ($child !== 0) {
            $children[] = $child;
            continue;
        }
        mt_srand($reader + 1);
        $began = $took = [];
        while (($now = hrtime(true)) < $until) {
            $keys = request($size);
            $before = hrtime(true);
            $ask($keys);
            $after = hrtime(true);
            if ($before >= $from) {
                $began[] = $before;
                $took[] = $after - $before;
            }
            if ($pause_us > 0) {
                usleep(mt_rand(intdiv($pause_us, 2), intdiv(3 * $pause_us, 2)));
            }
        }
        file_put_contents($file, pack('q*', ...$began, ...$took));
        exit(0);
    }
    return [$children, $files];
}

/** @return array{int[], int[]} when each request began (hrtime) and how long it took (ns), of all readers */
function measured(array $children, array $files): array
{
    $began = $took = [];
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
    }
    foreach ($files as $file) {
        if (!is_file($file)) {
            throw new \RuntimeException("a reader has died: $file is missing");
        }
        $numbers = array_values(unpack('q*', file_get_contents($file)));
        unlink($file);
        $half = intdiv(count($numbers), 2);
        array_push($began, ...array_slice($numbers, 0, $half));
        array_push($took, ...array_slice($numbers, $half));
    }
    return [$began, $took];
}

/** @param int[] $values */
function at_share(array $values, float $share): float
{
    if ($values === []) {
        throw new \RuntimeException('nothing was measured');
    }
    sort($values);
    return (float) $values[(int) floor($share * (count($values) - 1))];
}

function microseconds(float $nanoseconds): string
{
    return three_digits($nanoseconds / 1000);
}

function temporary_folder(): string
{
    $folder = sys_get_temp_dir() . '/keysieve-bench.' . getmypid();
    mkdir($folder);
    return $folder;
}
