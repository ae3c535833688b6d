<?php

// Servers on unix sockets: Redis, memcached.

declare(strict_types=1);

require_once __DIR__ . '/method.php';

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
