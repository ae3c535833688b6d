<?php

// Parallel processes that ask for 20 keys again and again, and note how long each request took. Used by refresh.php and
// package.php, whose sets hold the numbers from 1 on: such keys cost nothing to make.

declare(strict_types=1);

require_once __DIR__ . '/bench.php';

/** @return string[] fresh strings, half of them members of a set of $size keys */
function request(int $size): array
{
    $keys = [];
    for ($i = 0; $i < KEYS_OF_A_PAGE; ++$i) {
        $keys[] = (string) mt_rand(1, 2 * $size);
    }
    return $keys;
}

/**
 * The requests of a reader from $from to $until (hrtime): when each began and how long it took, in ns. It pauses about
 * $pause_us after each.
 *
 * @return array{int[], int[]}
 */
function requests(callable $ask, int $size, int $from, int $until, int $pause_us): array
{
    $began = $took = [];
    while (hrtime(true) < $until) {
        $keys = request($size);
        $before = hrtime(true);
        $ask($keys);
        $after = hrtime(true);
        if ($before >= $from) {
            $began[] = $before;
            $took[] = $after - $before;
        }
        usleep(mt_rand(intdiv($pause_us, 2), intdiv(3 * $pause_us, 2)));
    }
    return [$began, $took];
}

/** The results of all, each in a process of its own, while this one does $meanwhile. */
function side_by_side(array $works, ?callable $meanwhile = null): array
{
    $files = $results = [];
    foreach ($works as $seed => $work) {
        $file = tempnam(sys_get_temp_dir(), 'bench');
        $child = pcntl_fork();
        if ($child === 0) {
            mt_srand($seed);
            file_put_contents($file, serialize($work()));
            exit(0);
        }
        $files[$child] = $file;
    }
    $meanwhile === null || $meanwhile();
    foreach ($files as $child => $file) {
        if (pcntl_waitpid($child, $status) < 1 || $status !== 0) {
            throw new RuntimeException('a reader has failed');
        }
        $results[] = unserialize(file_get_contents($file));
        unlink($file);
    }
    return $results;
}
