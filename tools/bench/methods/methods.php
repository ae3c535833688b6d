<?php

// The ways to ask whether keys exist. Each is a class: fill() makes its store, once; a process that asks makes an object.

declare(strict_types=1);

require_once __DIR__ . '/keys.php';

/** What a method needs to know: how many keys there are, and the folder with files and sockets. */
final class Place
{
    public function __construct(public readonly int $count, public readonly string $folder)
    {
    }

    public function file(string $suffix): string
    {
        return "{$this->folder}/{$this->count}.$suffix";
    }
}

abstract class Method
{
    public function __construct(protected readonly Place $place)
    {
    }

    /** Makes what all processes share; keysieve's sets are made by the shell script. */
    public static function fill(Place $place): void
    {
    }

    /**
     * @param string[][] $pages
     * @return int how many of their keys may exist
     */
    abstract public function ask(array $pages): int;

    /** Bytes that all processes share. */
    public function sharedBytes(): int
    {
        return 0;
    }
}

final class EmptyLoop extends Method
{
    public function ask(array $pages): int
    {
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
            }
        }
        return 0;
    }
}

abstract class Keysieve extends Method
{
    protected readonly KeySieve\Set $set;

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->set = new KeySieve\Set("keys-{$place->count}");
        if ($this->set->availability() !== KeySieve\Availability::Ready) {
            throw new RuntimeException('keysieve is not ready');
        }
    }

    public function sharedBytes(): int
    {
        return $this->set->info()->sizeBytes;
    }
}

final class KeysieveSingle extends Keysieve
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if ($this->set->mayContain($key)) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

final class KeysieveBatch extends Keysieve
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            $found += array_sum($this->set->mayContainMany($keys));
        }
        return $found;
    }
}

final class KeysieveCandidates extends Keysieve
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            $found += count($this->set->candidates($keys));
        }
        return $found;
    }
}

abstract class PhpArray extends Method
{
    /** @var array<string, true> */
    protected array $keys;

    public function ask(array $pages): int
    {
        $found = 0;
        $known = $this->keys;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if (isset($known[$key])) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

final class PrivateArray extends PhpArray
{
    public function __construct(Place $place)
    {
        parent::__construct($place);
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                $this->keys[$key] = true;
            }
        }
    }
}

final class OpcacheArray extends PhpArray
{
    public static function fill(Place $place): void
    {
        $file = fopen($place->file('php'), 'w');
        fwrite($file, "<?php\nreturn [\n");
        foreach (keys_by_thousand($place->count) as $keys) {
            fwrite($file, "'" . implode("'=>true,\n'", $keys) . "'=>true,\n");
        }
        fwrite($file, "];\n");
        fclose($file);
        touch($place->file('php'), time() - 60); // opcache leaves alone what is newer than two seconds
        opcache_compile_file($place->file('php'));
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->keys = require $place->file('php');
    }

    public function sharedBytes(): int
    {
        $status = opcache_get_status(false);
        if ($status['cache_full'] || $status['opcache_statistics']['num_cached_scripts'] === 0) {
            throw new RuntimeException('opcache does not hold the array');
        }
        return $status['memory_usage']['used_memory'] - $status['interned_strings_usage']['free_memory'];
    }
}

abstract class Apcu extends Method
{
    public static function fill(Place $place): void
    {
        foreach (keys_by_thousand($place->count) as $keys) {
            if (apcu_store(array_fill_keys($keys, true)) !== []) {
                throw new RuntimeException('APCu is full');
            }
        }
    }

    public function sharedBytes(): int
    {
        $memory = apcu_sma_info(true);
        return (int) ($memory['num_seg'] * $memory['seg_size'] - $memory['avail_mem']);
    }
}

class ApcuSingle extends Apcu
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if (apcu_exists($key)) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

class ApcuArray extends Apcu
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            $found += count(apcu_exists($keys));
        }
        return $found;
    }
}

/** The same; these are started with the default of apc.entries_hint. */
final class ApcuSingleDefault extends ApcuSingle
{
}

final class ApcuArrayDefault extends ApcuArray
{
}

/** Bloom filters in shards, as a site has built them in 2014: crc32, k = 6, bits tested by PHP. */
abstract class Shards extends Method
{
    protected const SHARD_BYTES = 8192;
    protected const KEYS_PER_SHARD = 6500;
    private const PROBES = 6;

    /** Where bits of the key stand: the remainder chooses the shard, so the quotient is what is left. */
    private static function bits(int $quotient): iterable
    {
        $step = (($quotient * 0x9E3779B1) >> 9) | 1;
        for ($probe = 0; $probe < self::PROBES; ++$probe) {
            yield ($quotient + $probe * $step) % (8 * static::SHARD_BYTES);
        }
    }

    public static function fill(Place $place): void
    {
        $count = (int) ceil($place->count / static::KEYS_PER_SHARD);
        $shards = array_fill(0, $count, str_repeat("\0", static::SHARD_BYTES));
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                $hash = crc32($key);
                $shard = $hash % $count;
                foreach (self::bits(intdiv($hash, $count)) as $bit) {
                    $shards[$shard][$bit >> 3] = chr(ord($shards[$shard][$bit >> 3]) | 1 << ($bit & 7));
                }
            }
        }
        foreach ($shards as $number => $shard) {
            apcu_store(static::class . ":{$place->count}:$number", $shard);
        }
    }

    public function ask(array $pages): int
    {
        $found = 0;
        $count = (int) ceil($this->place->count / static::KEYS_PER_SHARD);
        $prefix = static::class . ":{$this->place->count}:";
        $bits = 8 * static::SHARD_BYTES;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                $hash = crc32($key);
                $bit = intdiv($hash, $count);
                $step = (($bit * 0x9E3779B1) >> 9) | 1;
                $shard = apcu_fetch($prefix . $hash % $count);
                for ($probe = 0; $probe < self::PROBES; ++$probe, $bit += $step) {
                    $at = $bit % $bits;
                    if ((ord($shard[$at >> 3]) & 1 << ($at & 7)) === 0) {
                        continue 2;
                    }
                }
                ++$found;
            }
        }
        return $found;
    }

    public function sharedBytes(): int
    {
        return (int) ceil($this->place->count / static::KEYS_PER_SHARD) * static::SHARD_BYTES;
    }
}

final class LargeShards extends Shards
{
}

final class SmallShards extends Shards
{
    protected const SHARD_BYTES = 1024;
    protected const KEYS_PER_SHARD = 800;
}

/** Exact local files through PHP's dba. */
abstract class Dba extends Method
{
    protected $file;

    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if (dba_exists($key, $this->file)) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

final class Cdb extends Dba
{
    public static function fill(Place $place): void
    {
        $file = dba_open($place->file('cdb'), 'n', 'cdb_make');
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                dba_insert($key, '', $file);
            }
        }
        dba_close($file);
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->file = dba_open($place->file('cdb'), 'r-', 'cdb');
    }

    public function sharedBytes(): int
    {
        return filesize($this->place->file('cdb'));
    }
}

final class Lmdb extends Dba
{
    private const MAP_BYTES = 1 << 30;

    public static function fill(Place $place): void
    {
        $file = dba_open($place->file('lmdb'), 'n', 'lmdb', 0644, self::MAP_BYTES);
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                dba_insert($key, '', $file);
            }
        }
        dba_close($file);
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->file = dba_open($place->file('lmdb'), 'r', 'lmdb', 0644, self::MAP_BYTES);
    }

    public function sharedBytes(): int
    {
        return 512 * stat($this->place->file('lmdb'))['blocks'];
    }
}

final class Sqlite extends Method
{
    private readonly SQLite3Stmt $select;
    private readonly SQLite3 $database;

    public static function fill(Place $place): void
    {
        $database = new SQLite3($place->file('sqlite'));
        $database->exec('PRAGMA journal_mode = off; CREATE TABLE keys (key BLOB PRIMARY KEY) WITHOUT ROWID; BEGIN');
        $insert = $database->prepare('INSERT INTO keys VALUES (?)');
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                $insert->bindValue(1, $key, SQLITE3_BLOB);
                $insert->execute();
            }
        }
        $database->exec('COMMIT; VACUUM');
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->database = new SQLite3($place->file('sqlite'), SQLITE3_OPEN_READONLY);
        $this->database->exec('PRAGMA mmap_size = 1073741824; PRAGMA locking_mode = exclusive');
        $marks = implode(',', array_fill(0, KEYS_OF_A_PAGE, '?'));
        $this->select = $this->database->prepare("SELECT key FROM keys WHERE key IN ($marks)");
    }

    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $i => $key) {
                $this->select->bindValue($i + 1, $key, SQLITE3_BLOB);
            }
            $rows = $this->select->execute();
            while ($rows->fetchArray(SQLITE3_NUM) !== false) {
                ++$found;
            }
            $this->select->reset();
        }
        return $found;
    }

    public function sharedBytes(): int
    {
        return filesize($this->place->file('sqlite'));
    }
}

abstract class RedisMethod extends Method
{
    protected readonly Redis $redis;

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->redis = self::connect($place);
    }

    protected static function connect(Place $place): Redis
    {
        $redis = new Redis();
        $redis->pconnect("{$place->folder}/redis.sock");
        return $redis;
    }

    protected function bytesOf(string $key): int
    {
        return (int) $this->redis->rawCommand('MEMORY', 'USAGE', $key, 'SAMPLES', '0');
    }
}

/** A Bloom filter of k = 6 and 10 bits per key in one Redis string, all bits of a page in one pipeline. */
final class RedisBits extends RedisMethod
{
    private const PROBES = 6;
    private const BITS_PER_KEY = 10;

    /** @return int[] */
    private static function bits(string $key, int $size): array
    {
        [1 => $at, 2 => $step] = unpack('P2', hash('xxh128', $key, true));
        $at &= PHP_INT_MAX >> 4; // so that no sum overflows
        $step &= PHP_INT_MAX >> 4;
        $bits = [];
        for ($probe = 0; $probe < self::PROBES; ++$probe, $at += $step) {
            $bits[] = $at % $size;
        }
        return $bits;
    }

    public static function fill(Place $place): void
    {
        $size = self::BITS_PER_KEY * $place->count;
        $bytes = str_repeat("\0", intdiv($size, 8) + 1);
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                foreach (self::bits($key, $size) as $bit) {
                    $bytes[$bit >> 3] = chr(ord($bytes[$bit >> 3]) | 0x80 >> ($bit & 7));
                }
            }
        }
        self::connect($place)->set("bits:{$place->count}", $bytes);
    }

    public function ask(array $pages): int
    {
        $found = 0;
        $name = "bits:{$this->place->count}";
        $size = self::BITS_PER_KEY * $this->place->count;
        foreach ($pages as $keys) {
            $pipeline = $this->redis->multi(Redis::PIPELINE);
            foreach ($keys as $key) {
                foreach (self::bits($key, $size) as $bit) {
                    $pipeline->getBit($name, $bit);
                }
            }
            foreach (array_chunk($pipeline->exec(), self::PROBES) as $bits) {
                if (!in_array(0, $bits, true)) {
                    ++$found;
                }
            }
        }
        return $found;
    }

    public function sharedBytes(): int
    {
        return $this->bytesOf("bits:{$this->place->count}");
    }
}

final class RedisSet extends RedisMethod
{
    public static function fill(Place $place): void
    {
        $redis = self::connect($place);
        foreach (keys_by_thousand($place->count) as $keys) {
            $redis->sAdd("set:{$place->count}", ...$keys);
        }
    }

    public function ask(array $pages): int
    {
        $found = 0;
        $name = "set:{$this->place->count}";
        foreach ($pages as $keys) {
            $found += array_sum($this->redis->sMisMember($name, ...$keys));
        }
        return $found;
    }

    public function sharedBytes(): int
    {
        return $this->bytesOf("set:{$this->place->count}");
    }
}

final class MemcachedItems extends Method
{
    private readonly Memcached $memcached;

    private static function connect(Place $place): Memcached
    {
        $memcached = new Memcached('bench');
        if ($memcached->getServerList() === []) {
            $memcached->addServer("{$place->folder}/memcached.{$place->count}.sock", 0);
        }
        return $memcached;
    }

    public static function fill(Place $place): void
    {
        $memcached = self::connect($place);
        $memcached->setOptions([Memcached::OPT_NOREPLY => true, Memcached::OPT_BUFFER_WRITES => true]);
        foreach (keys_by_thousand($place->count) as $keys) {
            $memcached->setMulti(array_fill_keys($keys, ''));
        }
        $memcached->flushBuffers();
        $memcached->setOptions([Memcached::OPT_NOREPLY => false, Memcached::OPT_BUFFER_WRITES => false]);
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->memcached = self::connect($place);
    }

    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            $found += count($this->memcached->getMulti($keys));
        }
        return $found;
    }

    public function sharedBytes(): int
    {
        return (int) array_values($this->memcached->getStats())[0]['bytes'];
    }
}
