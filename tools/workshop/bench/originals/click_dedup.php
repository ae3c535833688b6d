<?php

// Click dedup, replayed: bits in Redis, set by PHP, next to a seen set. php click_dedup.php FOLDER COUNT SERVERS, with Redis at
// redis.0.sock and so on in FOLDER, and the seen set clicks, which has room for COUNT keys at 1e-9.

declare(strict_types=1);

require __DIR__ . '/../bench.php';

use KeySieve\SeenSet;

const BITS_PER_KEY = 50;
const BATCH = 100;
const MOST_SECONDS = 5; // for what is measured with a part of the strings

/**
 * A Bloom filter spread over servers, and there over bitmaps of 8 MiB: the hash of a key chooses server and bitmap, and its bits.
 */
final class Bitmaps
{
    private const BITMAP_BITS = 1 << 26;

    private readonly int $bitmaps; // on each server

    /** @param Redis[] $servers */
    public function __construct(private readonly array $servers, private readonly string $name, private readonly int $bits, int $keys)
    {
        $this->bitmaps = max(1, intdiv($keys * BITS_PER_KEY, self::BITMAP_BITS * count($servers)) + 1);
    }

    /** @return array{Redis, string, int[]} */
    private function place(string $key): array
    {
        [, $first, $second] = unpack('P2', hash('murmur3f', $key, true));
        $server = ($first & PHP_INT_MAX) % count($this->servers);
        $bitmap = (($first >> 8) & PHP_INT_MAX) % $this->bitmaps;
        [$at, $step] = [$second & self::BITMAP_BITS - 1, $second >> 32 & self::BITMAP_BITS - 1 | 1]; // Kirsch, Mitzenmacher, "Less hashing, same performance" (2006)
        $offsets = array_map(static fn (int $i): int => $at + $i * $step & self::BITMAP_BITS - 1, range(1, $this->bits));
        return [$this->servers[$server], "$this->name:$bitmap", $offsets];
    }

    /** One round trip for each bit. */
    public function addIfNew(string $key): bool
    {
        [$redis, $bitmap, $offsets] = $this->place($key);
        $isNew = false;
        foreach ($offsets as $offset) {
            $isNew = $redis->setBit($bitmap, $offset, true) === 0 || $isNew;
        }
        return $isNew;
    }

    /**
     * One round trip for each server.
     *
     * @param string[] $keys
     */
    public function addMany(array $keys): int
    {
        $pipes = $counts = [];
        foreach ($keys as $key) {
            [$redis, $bitmap, $offsets] = $this->place($key);
            $pipe = $pipes[spl_object_id($redis)] ??= $redis->multi(Redis::PIPELINE);
            foreach ($offsets as $offset) {
                $pipe->setBit($bitmap, $offset, true);
            }
        }
        $new = 0;
        foreach ($pipes as $pipe) {
            foreach (array_chunk($pipe->exec(), $this->bits) as $bits) {
                $new += in_array(0, $bits, true) ? 1 : 0;
            }
        }
        return $new;
    }
}

/** Random strings of 4 to 12 letters and digits, one per line. */
function write_strings(string $file, int $count): void
{
    mt_srand(1);
    $list = fopen($file, 'w');
    for ($i = 0; $i < $count; ++$i) {
        fwrite($list, substr(str_pad(base_convert((string) mt_rand(), 10, 36) . base_convert((string) mt_rand(), 10, 36), 12, 'x'), 0, mt_rand(4, 12)) . "\n");
    }
    fclose($list);
}

/** @return iterable<string[]> lists of BATCH */
function batches(string $file, int $count): iterable
{
    $list = fopen($file, 'r');
    for ($done = 0; $done < $count; $done += BATCH) {
        $batch = [];
        for ($i = 0; $i < BATCH; ++$i) {
            $batch[] = substr(fgets($list), 0, -1);
        }
        yield $batch;
    }
}

/** Adds the first $count strings, or as many as MOST_SECONDS allow. @return array{int, int, float} strings, new ones, seconds */
function add_all(string $file, int $count, callable $add, bool $stops = true): array
{
    [$added, $new, $ns] = [0, 0, 0];
    foreach (batches($file, $count) as $batch) {
        $began = hrtime(true);
        $new += $add($batch);
        $ns += hrtime(true) - $began;
        $added += count($batch);
        if ($stops && $ns > MOST_SECONDS * SECOND) {
            break;
        }
    }
    return [$added, $new, $ns / SECOND];
}

[, $folder, $count, $server_count] = $argv;
$count = (int) $count;
$file = "$folder/strings";
write_strings($file, $count);
$servers = array_map(static function (int $i) use ($folder): Redis {
    $redis = new Redis();
    $redis->connect("$folder/redis.$i.sock");
    return $redis;
}, range(0, (int) $server_count - 1));
$one = [$servers[0]];
$each = static fn (Bitmaps $bitmaps): callable => static fn (array $keys): int => array_sum(array_map(static fn (string $key): int => $bitmaps->addIfNew($key) ? 1 : 0, $keys));
$many = static fn (Bitmaps $bitmaps): callable => $bitmaps->addMany(...);
$key_by_key = static fn (Bitmaps $bitmaps): callable => static fn (array $keys): int => array_sum(array_map(static fn (string $key): int => $bitmaps->addMany([$key]), $keys));
$clicks = new SeenSet('clicks');
$info = $clicks->info(); // of the one filter that it begins with
$methods = [
    '8 SETBITs one by one' => [$each(new Bitmaps($one, 'a', 8, $count)), '2,574', true],
    '8 SETBITs in a pipeline' => [$key_by_key(new Bitmaps($one, 'b', 8, $count)), '12,000', true],
    '16 SETBITs in a pipeline' => [$key_by_key(new Bitmaps($one, 'c', 16, $count)), '–', true],
    '16 SETBITs, 100 keys in a pipeline' => [$many(new Bitmaps($one, 'd', 16, $count)), '–', false],
    "the same over $server_count Redis" => [$many(new Bitmaps($servers, 'e', 16, $count)), '–', true],
    'SeenSet::addManyIfNew() of 100' => [static fn (array $keys): int => array_sum($clicks->addManyIfNew($keys)), '', false],
];
$rows = $exact = $speeds = [];
foreach ($methods as $name => [$add, $original, $stops]) {
    [$added, $new, $seconds] = add_all($file, $count, $add, $stops);
    $exact[$added] ??= (int) shell("head -n $added '$file' | LC_ALL=C sort -u -T '$folder' | wc -l");
    $speeds[$name] = $added / $seconds;
    $rows[] = [
        $name, $original, number_format($speeds[$name]), three_digits($speeds[$name] / $speeds[array_key_first($methods)]), number_format($added),
        number_format($added - $exact[$added]), number_format($added - $new), $stops ? '–' : (string) abs($exact[$added] - $new),
    ];
}
$bytes_per_key = $info->sizeBytes / $info->windowCapacity;
$gib = static fn (float $bytes): string => three_digits($bytes * 1e9 / 2 ** 30) . ' GiB';
$memory = [
    ['bits per key at 1e-9', '50, k = 16', three_digits(8 * $bytes_per_key)],
    ['a billion clicks', $gib(BITS_PER_KEY / 8), $gib($bytes_per_key)],
    ['7 million in 10 minutes', '11,667 adds/s are needed', number_format(end($speeds)) . ' adds/s in one process'],
];
print_part([], [
    table(number_format($count) . ' random strings of 4 to 12 characters; for some methods as many as fit into ' . MOST_SECONDS . ' s', ['', 'original, adds/s', 'here, adds/s', 'ratio', 'strings', 'duplicates', 'found', 'wrong'], $rows),
    table('What it takes', ['', 'original', 'seen set'], $memory),
], [bars('click_dedup', 'Adds per second, one PHP process', 'adds/s', 'log', array_map(static fn (string $name, float $speed): array => [$name, rounded($speed)], array_keys($speeds), $speeds))]);
