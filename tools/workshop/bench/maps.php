<?php

// The methods of tools/workshop/bench/maps, which starts the servers. Working directory: where sets, files and sockets are.
//   maps.php list|others|fill|measure|table|hot KEYS [METHOD]

declare(strict_types=1);

require __DIR__ . '/bench.php';

use KeySieve\Map;
use KeySieve\Set;

const PAGES = 2_000;
const HOT_CALLS = 100_000;

function key_of(int $i): string
{
    return '@scope' . $i % 977 . "/package-$i";
}

function value_of(int $i): int
{
    return crc32("value $i") & 0xffff;
}

/** Pages of 20 keys, half of them in the map. */
function pages(int $count): array
{
    mt_srand(1);
    $key = fn (int $n): string => $n % 2 === 0 ? key_of(mt_rand(0, $count - 1)) : key_of(mt_rand($count, 2 * $count));
    return array_map(fn (): array => array_map($key, range(1, KEYS_OF_A_PAGE)), range(1, PAGES));
}

function redis(): Redis
{
    $redis = new Redis();
    $redis->connect(getcwd() . '/redis.sock');
    return $redis;
}

function memcached(): Memcached
{
    $memcached = new Memcached();
    $memcached->addServer(getcwd() . '/memcached.sock', 0);
    return $memcached;
}

function private_array(int $count): array
{
    $values = [];
    for ($i = 0; $i < $count; ++$i) {
        $values[key_of($i)] = value_of($i);
    }
    return $values;
}

/** The values of the keys that have one. */
function from_array(array $values): Closure
{
    return function (array $keys) use ($values): array {
        $found = [];
        foreach ($keys as $key) {
            if (isset($values[$key])) {
                $found[$key] = $values[$key];
            }
        }
        return $found;
    };
}

function from_dba(string $file, string $handler): Closure
{
    $database = $handler === 'lmdb' ? dba_open($file, 'r', 'lmdb', 0644, 1 << 30) : dba_open($file, 'r-', $handler);
    return function (array $keys) use ($database): array {
        $found = [];
        foreach ($keys as $key) {
            $value = dba_fetch($key, $database);
            if ($value !== false) {
                $found[$key] = (int) $value;
            }
        }
        return $found;
    };
}

function ready_map(): Map
{
    $map = new Map('tiers');
    $map->availability();
    return $map;
}

/** Name => how to make what gets the values of a page. What finds only a few hundred pages per second gets fewer. */
$methods = [
    'Map::getMany()' => function (): Closure {
        $map = ready_map();
        $unknown = fn (array $keys): array => throw new RuntimeException('the map does not know');
        return fn (array $keys): array => $map->getMany($keys, $unknown);
    },
    'Map::get(), 20 calls' => function (): Closure {
        $map = ready_map();
        $unknown = fn (string $key): ?int => throw new RuntimeException('the map does not know');
        return function (array $keys) use ($map, $unknown): array {
            $found = [];
            foreach ($keys as $key) {
                $value = $map->get($key, $unknown);
                if ($value !== null) {
                    $found[$key] = $value;
                }
            }
            return $found;
        };
    },
    'a ribbon set of 26 columns, candidates()' => function (): Closure {
        $set = new Set('keys');
        $set->availability();
        return fn (array $keys): array => $set->candidates($keys);
    },
    'private array' => fn (int $count): Closure => from_array(private_array($count)),
    'array in opcache' => fn (): Closure => from_array(require getcwd() . '/array.php'),
    'APCu, apcu_fetch(array)' => function (int $count): Closure {
        foreach (array_chunk(private_array($count), 1_000, true) as $values) {
            apcu_store($values);
        }
        return fn (array $keys): array => apcu_fetch($keys);
    },
    'LMDB by dba' => fn (): Closure => from_dba(getcwd() . '/values.lmdb', 'lmdb'),
    'CDB by dba' => fn (): Closure => from_dba(getcwd() . '/values.cdb', 'cdb'),
    'Redis, HMGET' => function (): Closure {
        $redis = redis();
        return fn (array $keys): array => array_filter($redis->hMGet('values', $keys), fn (mixed $value): bool => $value !== false);
    },
    'memcached, getMulti()' => function (): Closure {
        $memcached = memcached();
        return fn (array $keys): array => $memcached->getMulti($keys);
    },
];

/** Bytes that the method needs: shared by all processes, and in each. */
function bytes_of(string $name, int $before): array
{
    $shared = match (true) {
        str_starts_with($name, 'Map') => ready_map()->info()->sizeBytes,
        str_starts_with($name, 'a ribbon') => (new Set('keys'))->info()->sizeBytes,
        str_starts_with($name, 'array') => opcache_get_status(false)['memory_usage']['used_memory'] + opcache_get_status(false)['interned_strings_usage']['used_memory'],
        str_starts_with($name, 'APCu') => apcu_sma_info(true)['seg_size'] - apcu_sma_info(true)['avail_mem'],
        str_starts_with($name, 'LMDB') => filesize('values.lmdb'),
        str_starts_with($name, 'CDB') => filesize('values.cdb'),
        str_starts_with($name, 'Redis') => redis()->info('memory')['used_memory'],
        str_starts_with($name, 'memcached') => array_values(memcached()->getStats())[0]['bytes'],
        default => 0,
    };
    return [$shared, memory_get_usage() - $before];
}

function fill(int $count): void
{
    $values = private_array($count);
    file_put_contents('array.php', '<?php return ' . var_export($values, true) . ';');
    foreach (['lmdb' => 'lmdb', 'cdb' => 'cdb_make'] as $name => $handler) {
        $database = $name === 'lmdb' ? dba_open("values.$name", 'n', $handler, 0644, 1 << 30) : dba_open("values.$name", 'n', $handler);
        foreach ($values as $key => $value) {
            dba_insert($key, (string) $value, $database);
        }
        dba_close($database);
    }
    foreach (array_chunk($values, 1_000, true) as $some) {
        redis()->hMSet('values', $some);
        memcached()->setMulti($some);
    }
}

function measure(string $name, Closure $make, int $count): array
{
    $pages = pages($count);
    $before = memory_get_usage();
    $get = $make($count);
    $found = 0;
    foreach ($pages as $keys) { // whatever is read for the first time
        $found += count($get($keys));
    }
    if (abs($found / (PAGES * KEYS_OF_A_PAGE) - 0.5) > 0.01) {
        throw new RuntimeException("$name found $found values");
    }
    $bytes = bytes_of($name, $before);
    $begin = hrtime(true);
    foreach ($pages as $keys) {
        $get($keys);
    }
    return [$name, (hrtime(true) - $begin) / PAGES, ...$bytes];
}

/** ns per call with one key, above an empty loop. */
function measure_hot(): void
{
    $map = ready_map();
    $set = new Set('keys');
    $set->availability();
    $unknown = fn (string $key): ?int => throw new RuntimeException('the map does not know');
    echo "| hot key, ns per call | mayContain() of the ribbon set | get() |\n|---|---|---|\n";
    foreach (['in the map' => key_of(7), 'absent' => '@none/none'] as $which => $key) {
        $loops = [
            function () use ($key): void {
                for ($i = 0; $i < HOT_CALLS; ++$i) {
                }
            },
            function () use ($set, $key): void {
                for ($i = 0; $i < HOT_CALLS; ++$i) {
                    $set->mayContain($key);
                }
            },
            function () use ($map, $key, $unknown): void {
                for ($i = 0; $i < HOT_CALLS; ++$i) {
                    $map->get($key, $unknown);
                }
            },
        ];
        $medians = array_map(median(...), by_turns(51, $loops, fn (callable $loop): float => time_of($loop) / HOT_CALLS));
        printf("| %s | %s | %s |\n", $which, three_digits($medians[1] - $medians[0]), three_digits($medians[2] - $medians[0]));
    }
}

[, $what, $count] = $argv;
$count = (int) $count;
switch ($what) {
    case 'list':
        for ($i = 0; $i < $count; ++$i) {
            echo key_of($i), "\t", value_of($i), "\n";
        }
        break;
    case 'fill':
        fill($count);
        break;
    case 'others':
        for ($i = $count; $i < $count + 1_000_000; ++$i) {
            echo key_of($i), "\n";
        }
        break;
    case 'hot':
        measure_hot();
        break;
    case 'measure':
        $name = array_keys($methods)[(int) $argv[3]] ?? exit(3);
        echo json_encode(measure($name, $methods[$name], $count)), "\n";
        break;
    case 'table':
        $figures = [];
        foreach (file('php://stdin') as $line) {
            [$name, $ns, $shared, $private] = json_decode($line);
            $figures[$name][] = [$ns, $shared, $private];
        }
        $map = column_medians($figures['Map::getMany()'])[0];
        echo "| method | µs per page | getMany() = 1 | MB, shared | MB in each process |\n|---|---|---|---|---|\n";
        foreach ($figures as $name => $rows) {
            [$ns, $shared, $private] = column_medians($rows);
            printf("| %s | %s | %s | %s | %s |\n", $name, three_digits($ns / 1e3), three_digits($ns / $map), three_digits($shared / 1e6), three_digits($private / 1e6));
        }
        break;
}
