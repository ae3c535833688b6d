<?php

// All methods of asking whether keys exist that the part `php` compares, and how each makes its store.

declare(strict_types=1);

require_once __DIR__ . '/keys.php';

const EXTENSION = ['extension=%2$s', 'keysieve.directory=%3$s']; // %2$s: that of keysieve; %3$s: where its sets are published
const APCU = ['extension=apcu', 'apc.entries_hint=%1$d'];         // %1$d: number of keys
const REDIS = ['extension=igbinary', 'extension=redis'];
const MEMCACHED = ['extension=igbinary', 'extension=msgpack', 'extension=memcached'];
const LARGE_ARRAY = ['opcache.memory_consumption=1024', 'opcache.interned_strings_buffer=128'];
const LMDB_BYTES = 1 << 30;

/**
 * Each method has a store, which open() returns as $it; code that finds keys there; and the PHP settings it needs. The code
 * is text, which write_ask_file() puts into a loop, since a call for each page would cost more than some methods do. It says
 * whether $key may exist, or how many of $keys, all of a page.
 */
const METHODS = [
    'empty foreach over the keys' => ['nothing', 'false', []],
    'keysieve, 20 calls' => ['keysieve', '$it->mayContain($key)', EXTENSION],
    'keysieve, candidates()' => ['keysieve', 'count($it->candidates($keys))', EXTENSION],
    'package in PHP, 20 calls' => ['package', '$it->mayContain($key)', []],
    'package in PHP, candidates()' => ['package', 'count($it->candidates($keys))', []],
    'isset on a private array' => ['array', 'isset($it[$key])', []],
    'isset on an array in opcache' => ['opcache', 'isset($it[$key])', LARGE_ARRAY],
    'apcu_exists(), 20 calls' => ['apcu', 'apcu_exists($key)', APCU],
    'apcu_exists(array)' => ['apcu', 'count(apcu_exists($keys))', APCU],
    'Bloom in PHP: 8 KB shards in APCu' => ['shards of 8 KB', '$it->ask($keys)', APCU],
    'Bloom in PHP: 1 KB shards in APCu' => ['shards of 1 KB', '$it->ask($keys)', APCU],
    'CDB by dba' => ['cdb', 'dba_exists($key, $it)', ['extension=dba']],
    'LMDB by dba' => ['lmdb', 'dba_exists($key, $it)', ['extension=dba']],
    'SQLite, one prepared SELECT … IN' => ['sqlite', 'ask_sqlite($it, $keys)', ['extension=sqlite3']],
    'Redis, SMISMEMBER' => ['redis set', 'array_sum($it->sMisMember($place->id, ...$keys))', REDIS],
    'memcached, getMulti()' => ['memcached', 'count($it->getMulti($keys))', MEMCACHED],
];

/** The place where a method runs: the number of keys, and the folder of files and sockets. */
final class Place
{
    /** The name of the store. */
    public readonly string $id;
    public readonly string $file;
    public readonly string $store;
    /** A PHP file that returns a function of pages, $it and the place: how many of the pages' keys may exist. */
    public readonly string $ask;

    public function __construct(public readonly string $method, public readonly int $count, public readonly string $folder)
    {
        $this->store = METHODS[$method][0];
        $this->id = "$count." . strtr($this->store, ' ', '-');
        $this->file = "$folder/$this->id";
        $this->ask = "$folder/" . md5($method) . '.php';
    }
}

/** A PHP file that opcache caches at once: it skips files that are newer than two seconds. */
function write_php(string $file, string $code): void
{
    file_put_contents($file, "<?php $code");
    touch($file, time() - 60);
}

function write_ask_file(Place $place): void
{
    $find = METHODS[$place->method][1];
    $page = str_contains($find, '$keys') ? "\$found += $find;" : "foreach (\$keys as \$key) { if ($find) { ++\$found; } }";
    write_php($place->ask, "return function (array \$pages, \$it, Place \$place): int {
        \$found = 0;
        foreach (\$pages as \$keys) { $page }
        return \$found;
    };");
}

/** Makes the store, which all processes share; tools/workshop/bench/run makes keysieve's sets. */
function fill(Place $place): void
{
    match ($place->store) {
        'nothing', 'keysieve', 'package', 'array' => null,
        'opcache' => fill_opcache($place),
        'apcu' => each_thousand($place, fn (array $keys) => apcu_store(array_fill_keys($keys, true)) === [] || throw new RuntimeException('APCu is full')),
        'shards of 8 KB', 'shards of 1 KB' => open($place)->fill(),
        'cdb' => fill_dba($place, 'cdb_make'),
        'lmdb' => fill_dba($place, 'lmdb'),
        'sqlite' => fill_sqlite($place),
        'redis set' => each_thousand($place, fn (array $keys) => open($place)->sAdd($place->id, ...$keys)),
        'memcached' => each_thousand($place, fn (array $keys) => open($place)->setMulti(array_fill_keys($keys, ''))),
    };
}

/** Opens the store in this process. */
function open(Place $place): mixed
{
    return match ($place->store) {
        'nothing', 'apcu' => null,
        'keysieve' => ready("keys-$place->count"),
        'package' => open_package($place),
        'array' => all_keys($place),
        'opcache' => require "$place->file.php",
        'shards of 8 KB' => new Shards($place, 8192, 6500),
        'shards of 1 KB' => new Shards($place, 1024, 800),
        'cdb' => dba_open($place->file, 'r-', 'cdb'),
        'lmdb' => dba_open($place->file, 'r', 'lmdb', 0644, LMDB_BYTES),
        'sqlite' => open_sqlite($place),
        'redis set' => open_redis($place),
        'memcached' => open_memcached($place),
    };
}

/** Bytes that all processes share. */
function shared_bytes(Place $place, mixed $it): int
{
    return match ($place->store) {
        'nothing', 'array' => 0,
        'keysieve', 'package' => $it->info()->sizeBytes,
        'opcache' => bytes_of_opcache(),
        'apcu' => bytes_of_apcu(),
        'shards of 8 KB', 'shards of 1 KB' => $it->count * $it->bytes,
        'cdb', 'lmdb', 'sqlite' => 512 * stat($place->file)['blocks'],
        'redis set' => (int) $it->rawCommand('MEMORY', 'USAGE', $place->id, 'SAMPLES', '0'),
        'memcached' => (int) array_values($it->getStats())[0]['bytes'],
    };
}

/** @param callable(string[]): mixed $add */
function each_thousand(Place $place, callable $add): void
{
    foreach (keys_by_thousand($place->count) as $keys) {
        $add($keys);
    }
}

/** @return array<string, true> */
function all_keys(Place $place): array
{
    $all = [];
    each_thousand($place, function (array $keys) use (&$all): void {
        $all += array_fill_keys($keys, true);
    });
    return $all;
}

/** Asks for keys of all shards, so that what it keeps of them counts as memory of the process. */
function open_package(Place $place): KeySieve\Set
{
    require __DIR__ . '/../../../php/bootstrap.php';
    KeySieve\Reader\Settings::use("files:$place->folder");
    $set = ready("keys-$place->count");
    $set->mayContainMany(range(1, 20_000));
    return $set;
}

function fill_opcache(Place $place): void
{
    write_php("$place->file.php", 'return ' . var_export(all_keys($place), true) . ';');
    opcache_compile_file("$place->file.php");
}

function bytes_of_opcache(): int
{
    $status = opcache_get_status(false);
    if ($status['cache_full'] || $status['opcache_statistics']['num_cached_scripts'] === 0) {
        throw new RuntimeException('opcache does not hold the array');
    }
    return $status['memory_usage']['used_memory'] - $status['interned_strings_usage']['free_memory'];
}

function bytes_of_apcu(): int
{
    $memory = apcu_sma_info(true);
    return (int) ($memory['num_seg'] * $memory['seg_size'] - $memory['avail_mem']);
}

/** Bloom filters in shards, as sites build them without an extension: crc32, bits tested by PHP. */
final class Shards
{
    private const PROBES = 6;
    public readonly int $count;

    public function __construct(private readonly Place $place, public readonly int $bytes, int $keys_per_shard)
    {
        $this->count = (int) ceil($place->count / $keys_per_shard);
    }

    /** The remainder chooses the shard, and the quotient the bits. */
    public function fill(): void
    {
        $shards = array_fill(0, $this->count, str_repeat("\0", $this->bytes));
        each_thousand($this->place, function (array $keys) use (&$shards): void {
            foreach (array_map(crc32(...), $keys) as $hash) {
                $bit = intdiv($hash, $this->count);
                $step = (($bit * 0x9E3779B1) >> 9) | 1;
                $shard = &$shards[$hash % $this->count];
                for ($probe = 0; $probe < self::PROBES; ++$probe, $bit += $step) {
                    $at = $bit % (8 * $this->bytes);
                    $shard[$at >> 3] = chr(ord($shard[$at >> 3]) | 1 << ($at & 7));
                }
            }
        });
        foreach ($shards as $number => $shard) {
            apcu_store("{$this->place->id}:$number", $shard);
        }
    }

    /** @param string[] $keys */
    public function ask(array $keys): int
    {
        $found = 0;
        $prefix = "{$this->place->id}:";
        $bits = 8 * $this->bytes;
        foreach ($keys as $key) {
            $hash = crc32($key);
            $bit = intdiv($hash, $this->count);
            $step = (($bit * 0x9E3779B1) >> 9) | 1;
            $shard = apcu_fetch($prefix . $hash % $this->count);
            for ($probe = 0; $probe < self::PROBES; ++$probe, $bit += $step) {
                $at = $bit % $bits;
                if ((ord($shard[$at >> 3]) & 1 << ($at & 7)) === 0) {
                    continue 2;
                }
            }
            ++$found;
        }
        return $found;
    }
}

function fill_dba(Place $place, string $handler): void
{
    $file = dba_open($place->file, 'n', $handler, 0644, LMDB_BYTES);
    each_thousand($place, fn (array $keys) => array_map(fn (string $key) => dba_insert($key, '', $file), $keys));
    dba_close($file);
}

function fill_sqlite(Place $place): void
{
    $database = new SQLite3($place->file);
    $database->exec('PRAGMA journal_mode = off; CREATE TABLE keys (key BLOB PRIMARY KEY) WITHOUT ROWID; BEGIN');
    $insert = $database->prepare('INSERT INTO keys VALUES (?)');
    each_thousand($place, function (array $keys) use ($insert): void {
        foreach ($keys as $key) {
            $insert->bindValue(1, $key, SQLITE3_BLOB);
            $insert->execute();
        }
    });
    $database->exec('COMMIT; VACUUM');
}

function open_sqlite(Place $place): SQLite3Stmt
{
    $database = new SQLite3($place->file, SQLITE3_OPEN_READONLY);
    $database->exec('PRAGMA mmap_size = 1073741824; PRAGMA locking_mode = exclusive');
    return $database->prepare('SELECT key FROM keys WHERE key IN (' . implode(',', array_fill(0, KEYS_OF_A_PAGE, '?')) . ')');
}

/** @param string[] $keys */
function ask_sqlite(SQLite3Stmt $select, array $keys): int
{
    foreach ($keys as $i => $key) {
        $select->bindValue($i + 1, $key, SQLITE3_BLOB);
    }
    $rows = $select->execute();
    for ($found = 0; $rows->fetchArray(SQLITE3_NUM) !== false; ++$found) {
    }
    $select->reset();
    return $found;
}

function open_redis(Place $place): Redis
{
    $redis = new Redis();
    $redis->connect("$place->folder/redis.sock");
    return $redis;
}

function open_memcached(Place $place): Memcached
{
    $memcached = new Memcached();
    $memcached->addServer("$place->folder/memcached.$place->count.sock", 0);
    return $memcached;
}
