<?php

// An illustration site's tag links, replayed: which of a page's tags have an article? php tag_links.php BIN FOLDER, with a memcached at
// memcached.sock in FOLDER, APCu, and the headwords of edict in FOLDER/words, one per line, in random order.

declare(strict_types=1);

require __DIR__ . '/../bench.php';

const TAGS = 30_000; // of these the first are articles; the rest are tags without one
const ROUNDS = 15;
const HASHES = 10;
const FILTERS = [1_000 => 37, 8_000 => 5, 100_000 => 1]; // by their bytes
const CONTOURS = ['0.5 %' => 0.005, '1 %' => 0.01, '1.5 %' => 0.015, '2 %' => 0.02];

/** A Bloom filter as PHP code made it then: bits in a string, positions by crc32 of the key with a number. */
function positions(string $key, int $bits): array
{
    return array_map(static fn (int $i): int => crc32("$i$key") % $bits, range(1, HASHES));
}

/** @param string[] $keys */
function filter_of(array $keys, int $bytes): string
{
    $filter = str_repeat("\0", $bytes);
    foreach ($keys as $key) {
        foreach (positions($key, 8 * $bytes) as $at) {
            $filter[$at >> 3] = chr(ord($filter[$at >> 3]) | 1 << ($at & 7));
        }
    }
    return $filter;
}

function has(string $filter, string $key): bool
{
    foreach (positions($key, 8 * strlen($filter)) as $at) {
        if ((ord($filter[$at >> 3]) >> ($at & 7) & 1) === 0) {
            return false;
        }
    }
    return true;
}

/** Keys of a page: half of them have an article. */
function pages(array $articles, array $others, int $count): array
{
    mt_srand(1);
    $pick = static fn (int $i): string => $i % 2 === 0 ? $articles[mt_rand(0, count($articles) - 1)] : $others[mt_rand(0, count($others) - 1)];
    return array_map(static fn (): array => array_map($pick, range(1, KEYS_OF_A_PAGE)), range(1, $count));
}

[, $bin, $folder] = $argv;
$words = file("$folder/words", FILE_IGNORE_NEW_LINES);
[$articles, $others] = [array_slice($words, 0, TAGS), array_slice($words, TAGS, TAGS)];
file_put_contents("$folder/articles", implode("\n", $articles) . "\n");
run($bin, 'build', '--set', 'tags', '--fpr', '0.01', "$folder/articles", '-o', "$folder/tags.ks");
run($bin, 'publish', '--directory', "$folder/sets", "$folder/tags.ks");
$set = ready('tags');
$memcached = new Memcached();
$memcached->addServer("$folder/memcached.sock", 0);
$memcached->setOption(Memcached::OPT_COMPRESSION, false);
/** Which of the filters of that size has a key. */
$filter_for = static fn (string $key, int $bytes): string => "filter-$bytes-" . crc32($key) % FILTERS[$bytes];
foreach (array_keys(FILTERS) as $bytes) {
    $shards = [];
    foreach ($articles as $key) {
        $shards[$filter_for($key, $bytes)][] = $key;
    }
    foreach ($shards as $name => $keys) {
        $filter = filter_of($keys, $bytes);
        $memcached->set($name, $filter) || throw new RuntimeException('memcached is full');
        apcu_store($name, $filter);
    }
    foreach ($articles as $key) {
        has(apcu_fetch($filter_for($key, $bytes)), $key) || throw new RuntimeException("filters of $bytes bytes have lost $key");
    }
}

$keys = array_merge(...pages($articles, $others, 100));
$each = static fn (callable $ask): callable => static function () use ($ask, $keys): void {
    foreach ($keys as $key) {
        $ask($key);
    }
};
$methods = ['keysieve, mayContain()' => $each($set->mayContain(...))];
foreach (array_keys(FILTERS) as $bytes) {
    $methods["memcached, $bytes"] = $each(static fn (string $key): bool => has($memcached->get($filter_for($key, $bytes)), $key));
    $methods["APCu, $bytes"] = $each(static fn (string $key): bool => has(apcu_fetch($filter_for($key, $bytes)), $key));
}
$us = array_map(static fn (array $times): float => median($times) / count($keys) / 1000, by_turns(ROUNDS, $methods, time_of(...)));
$keysieve = $us['keysieve, mayContain()'];
$row = static fn (string $what, string $original, int $bytes): array => [
    $what, $original, three_digits($us["memcached, $bytes"]), three_digits($us["APCu, $bytes"]), three_digits($keysieve), three_digits($us["memcached, $bytes"] / $keysieve),
];

$per_shard = static fn (string $kind, string $shard): string => number_format(1_000_000 / planned($bin, 1_000_000, '0.01', $kind, $shard)['shard_count']);
$sizes = [
    ['30,000 tags at 1 %', '37 kB', ...array_map(static fn (string $kind): string => three_digits((planned($bin, TAGS, '0.01', $kind)['bytes'] - 8_192) / 1_000) . ' kB', ['bloom', 'split_block_bloom', 'ribbon'])],
    ['keys in 1 kB at 1 %', '800 (k ≈ 6)', ...array_map(static fn (string $kind): string => $per_shard($kind, '1KiB'), ['bloom', 'split_block_bloom', 'ribbon'])],
    ['keys in 8 kB at 1 %', '6,500 (k ≈ 6)', ...array_map(static fn (string $kind): string => $per_shard($kind, '8KiB'), ['bloom', 'split_block_bloom', 'ribbon'])],
];

$page = pages($articles, $others, 1)[0];
$candidates = $set->candidates($page);
$linked = array_values(array_intersect($candidates, $articles));
exec(escapeshellarg($bin) . " build --set tags --fpr 0.01 --max-fpr 0.001 $folder/articles -o $folder/refused.ks 2>&1", $refusal, $status);
$lines = [];
foreach (CONTOURS as $name => $fpr) {
    foreach (range(1, 16) as $k) {
        $lines[$name][] = [$k, round(-8_192 / $k * log(1 - $fpr ** (1 / $k)))];
    }
}
print_part([], [
    table('One lookup: fetch a filter and test 10 hashes, µs', ['filter', 'original', 'memcached', 'APCu', 'keysieve', 'memcached / keysieve'], [
        $row('100 kB', 'over 5,000', 100_000),
        $row('8 kB', '–', 8_000),
        $row('1 kB', 'below 100', 1_000),
    ]),
    table('Sizes, without the pages of header and tables', ['', 'original', 'bloom', 'split_block_bloom', 'ribbon'], $sizes),
    table('A page of 20 tags', ['', ''], [
        ['tags', implode(' ', $page)],
        ['links', implode(' ', array_map(static fn (string $tag): string => "[$tag](https://en.wiktionary.org/wiki/$tag)", $linked))],
        ['asked of the database', count($candidates) . ' instead of 20, of which ' . count($candidates) - count($linked) . ' for nothing'],
        ['the nightly job above its limit', "exit status $status: " . implode(' ', $refusal)],
    ]),
], [lines('tag_links', 'Keys that 1 KiB holds at 0.5, 1, 1.5 and 2 %', ['k', 'linear'], ['keys', 'linear'], $lines)]);
