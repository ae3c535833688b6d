<?php

// Cost of the package in PHP with sets that are much larger than what it keeps of them.
// php package.php FOLDER SIZE ROUNDS, without the extension; FOLDER has a file of each kind, with the numbers from 1 to SIZE.

declare(strict_types=1);

require __DIR__ . '/readers.php';

use KeySieve\Reader\File;
use KeySieve\Reader\Header;
use KeySieve\Reader\Word;

const KINDS = ['split_block_bloom', 'ribbon'];
const KEYS_PER_STRETCH = 20;
const WARM_STRETCHES = 30; // the package keeps the last 512 shards
const TIMES_ASKED = 5;

/**
 * Pages of fresh strings, half of them members.
 *
 * @return array{string[][], string[][]} one key for each stretch of shards; many keys for a few stretches
 */
function cold_and_warm_pages(Header $header, int $size): array
{
    $keys = [];
    for ($left = KEYS_PER_STRETCH * $header->stretchCount(); $left > 0; --$left) {
        $key = (string) mt_rand(1, 2 * $size);
        $hash = unpack('J', hash('xxh3', $key, true, ['seed' => $header->seed]))[1];
        $keys[intdiv(Word::shard($hash, $header->shardCount), $header->shardsPerStretch())][] = $key;
    }
    $warm = array_merge(...array_slice($keys, 0, WARM_STRETCHES));
    shuffle($warm);
    return [array_chunk(array_map(current(...), $keys), KEYS_OF_A_PAGE), array_chunk($warm, KEYS_OF_A_PAGE)];
}

/** @param string[][] $pages */
function ask_singly(KeySieve\Set $set, array $pages): void
{
    foreach ($pages as $keys) {
        foreach ($keys as $key) {
            $set->mayContain($key);
        }
    }
}

/** @param string[][] $pages */
function ask_in_batches(KeySieve\Set $set, array $pages): void
{
    foreach ($pages as $keys) {
        $set->mayContainMany($keys);
    }
}

/** Microseconds per stretch that every cold lookup needs at least: to read the bytes, and for their checksum. */
function reading(File $file, Header $header): float
{
    $bytes = $header->shardsPerStretch() * $header->stride();
    $count = $header->stretchCount() - 1; // the last one is shorter
    return time_of(function () use ($file, $header, $bytes, $count): void {
        for ($stretch = 0; $stretch < $count; ++$stretch) {
            hash('xxh3', $file->read($header->shardsAt() + $stretch * $bytes, $bytes), true);
        }
    }) / 1000 / $count;
}

/** Microseconds per key. */
function asking(callable $ask, KeySieve\Set $set, array $pages): float
{
    return time_of(fn () => $ask($set, $pages)) / 1000 / array_sum(array_map(count(...), $pages));
}

/** @return float[] of a process that has asked nothing yet: µs of the first call, first page, cold, its floor, warm, in batches; MB at most */
function package_cost(string $folder, string $kind, int $size): array
{
    use_package($folder);
    $first = time_of(fn () => ready($kind)) / 1000;
    $set = ready($kind);
    $page_us = asking(ask_singly(...), $set, [request($size)]);
    $file = File::open("$folder/$kind.ks");
    $header = Header::read($file);

    $peak = memory_get_peak_usage();
    $before = memory_get_usage();
    [$cold, $warm] = cold_and_warm_pages($header, $size);
    $of_keys = memory_get_usage() - $before;
    memory_reset_peak_usage();

    $cold_us = asking(ask_singly(...), $set, $cold);
    ask_singly($set, $warm);
    $asked = array_merge(...array_fill(0, TIMES_ASKED, $warm));
    $single_us = asking(ask_singly(...), $set, $asked);
    $batch_us = asking(ask_in_batches(...), $set, $asked);
    $peak = max($peak, memory_get_peak_usage() - $of_keys);
    return [$first, $page_us, $cold_us, reading($file, $header), $single_us, $batch_us, $peak / 1e6];
}

[, $folder, $size, $rounds] = $argv;
$figures = by_turns((int) $rounds, array_combine(KINDS, KINDS), fn (string $kind): array
    => side_by_side([fn (): array => package_cost($folder, $kind, (int) $size)])[0]);
$medians = array_map(column_medians(...), $figures);
$rows = [];
foreach ($medians as $kind => $own) {
    $rows[] = [$kind, three_digits(filesize("$folder/$kind.ks") / 1e6), ...array_map(three_digits(...), $own)];
}
$million = $size / 1_000_000;
print_part([
    'the package in PHP: in processes without the extension, with sets as files on tmpfs; of a set of 1M keys it keeps all',
    "sets of {$million}M keys: a new process per round; half of the keys absent; memory: the most that PHP has allocated, without the keys",
    'cold: each key is in another stretch of 64 KiB; warm: keys of ' . WARM_STRETCHES . ' stretches, whose shards the process keeps',
], [
    table(
        "The package in PHP, with sets of {$million}M keys",
        ['kind', 'size, MB', 'first call, µs', 'then 20 keys, µs per key', 'cold, µs per key', 'of it reading and checksum', 'warm, µs per key', 'warm, in a batch of 20', 'memory, MB'],
        $rows,
    ),
], []);
