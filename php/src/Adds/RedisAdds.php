<?php

declare(strict_types=1);

namespace KeySieve\Adds;

use KeySieve\Reader\Arguments;
use Predis\ClientInterface;
use Predis\Command\CommandInterface;
use Predis\Command\RawCommand;
use Predis\Connection\NodeConnectionInterface;
use Predis\Connection\Replication\ReplicationInterface;
use Predis\Pipeline\Pipeline;
use Predis\Response\ErrorInterface;
use Predis\Response\Status;
use Relay\Relay;

/**
 * Appends to the adds logs of a store in Redis, by phpredis, Relay or Predis. A loader that follows the set receives the keys, usually within
 * milliseconds.
 *
 *     $adds = new RedisAdds(static function (): Redis {
 *         $redis = new Redis();
 *         $redis->connect('/run/redis/redis.sock', 0, 2.0, null, 0, 2.0);
 *         return $redis;
 *     });
 *     $adds->add('tags', '初音ミク');
 *
 * It has a connection of its own, since phpredis may take a reply that came too late for that of the next command. So it opens one at the
 * first add, and another one after a failure or a fork. Do not give it a persistent one: processes may share that after a fork. Give it short
 * time limits: the transaction stays open while Redis answers. Prefix and serializer of the connection are not used, since they would
 * change the log's name and the keys. Nor is the database that other code may have chosen meanwhile: each call selects its own.
 */
final class RedisAdds implements Adds
{
    private const KEY_BYTES = 1 << 20; // loaders skip what is longer
    private const BATCH_KEYS = 1_000;
    private const BATCH_BYTES = 1 << 20;
    /** As in tools/stores/redis/redis_scripts.hpp: an entry says when its log was begun, and how many keys that has had. Then
     * it tells the loaders. */
    private const APPEND = <<<'LUA'
        local function last(from)
          local up_to, count = '+', 1
          while true do
            local found = redis.pcall('XREVRANGE', KEYS[1], up_to, from, 'COUNT', count)
            if found.err or #found == 0 then return found end
            for _, entry in ipairs(found) do
              local fields = entry[2]
              if fields[#fields - 3] == 'log' and fields[#fields - 1] == 'count' then
                return {log = fields[#fields - 2], count = tonumber(fields[#fields])}
              end
            end
            up_to, count = '(' .. found[#found][1], 100
          end
        end
        local known = last('-')
        if known.err then return known end
        if not known.log then
          local now = redis.call('TIME')
          known = {log = now[1] .. string.format('%03d-0', math.floor(now[2] / 1000)), count = 0}
        end
        local id
        for _, key in ipairs(ARGV) do
          known.count = known.count + 1
          id = redis.pcall('XADD', KEYS[1], '*', 'key', key, 'log', known.log, 'count', string.format('%.0f', known.count))
          if id.err then return id end
        end
        redis.pcall('PUBLISH', KEYS[1]:match('^[^:]*') .. ':changes', KEYS[1])
        return id
        LUA;

    private \Redis|\RedisCluster|Relay|ClientInterface|null $connection = null;
    private int $database = 0; // as $connect has chosen it
    private int|false $process = false; // whose connection it is

    /**
     * @param \Closure(): (\Redis|\RedisCluster|Relay|ClientInterface) $connect makes a new connection; what it throws becomes an AddException
     * @param string $prefix `?prefix=` of the store's URL
     */
    public function __construct(
        private readonly \Closure $connect,
        private readonly string $prefix = 'keysieve',
    ) {
    }

    public function add(string $set, string|int ...$keys): void
    {
        $log = $this->prefix . ':' . Arguments::setName($set, __METHOD__ . '(): Argument #1 ($set) must be') . ':adds';
        foreach (self::batches($keys) as $batch) {
            $wasOpen = $this->connection !== null; // and Redis may have closed it meanwhile
            try {
                $this->append($log, $batch);
            } catch (AddException $error) {
                $wasOpen ? $this->append($log, $batch) : throw $error;
            }
        }
    }

    /**
     * @param array<string|int> $keys
     * @return list<non-empty-list<string>>
     */
    private static function batches(array $keys): array
    {
        $batches = [];
        $batch = [];
        $bytes = 0;
        foreach ($keys as $key) {
            $key = (string) $key;
            if (strlen($key) > self::KEY_BYTES) {
                throw new \LengthException('a key has ' . strlen($key) . ' bytes, and loaders skip those with more than ' . self::KEY_BYTES);
            }
            if ($batch !== [] && (count($batch) === self::BATCH_KEYS || $bytes + strlen($key) > self::BATCH_BYTES)) {
                $batches[] = $batch;
                [$batch, $bytes] = [[], 0];
            }
            $batch[] = $key;
            $bytes += strlen($key);
        }
        return $batch === [] ? $batches : [...$batches, $batch];
    }

    /**
     * @param non-empty-list<string> $keys
     * @throws AddException
     */
    private function append(string $log, array $keys): void
    {
        try {
            if ($this->process !== getmypid()) {
                $this->disconnect();
            }
            $connection = $this->connection ??= $this->connected();
            $commands = [['EVAL', self::APPEND, '1', $log, ...$keys]];
            $refusal = match (true) {
                $connection instanceof ClientInterface => self::sendByPredis($connection, $commands),
                $connection instanceof \RedisCluster => self::sendToCluster($connection, $log, $commands),
                default => self::sendInPipeline($connection, [['SELECT', (string) $this->database], ...$commands]),
            };
        } catch (\Exception $error) {
            $refusal = $error->getMessage();
        }
        if ($refusal !== null) {
            $this->disconnect();
            throw new AddException("$log: $refusal", 0, $error ?? null);
        }
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands EVAL
     * @return ?string what Redis says against it
     */
    private static function sendByPredis(ClientInterface $redis, array $commands): ?string
    {
        $connection = $redis->getConnection();
        $node = $connection instanceof ReplicationInterface ? $connection->getMaster() : $connection;
        if ($node instanceof NodeConnectionInterface) { // a cluster has one database
            $database = $node->getParameters()->toArray()['database'] ?? 0;
            array_unshift($commands, ['SELECT', is_scalar($database) ? (string) $database : '0']);
        }
        $raw = array_map(static fn (array $words): CommandInterface => RawCommand::create(...$words), $commands);
        $replies = $connection instanceof NodeConnectionInterface
            ? $redis->pipeline(static fn (Pipeline $pipeline): array => array_map($pipeline->executeCommand(...), $raw))
            : array_map($redis->executeCommand(...), $raw); // pipelines do not follow a cluster's redirections
        foreach (is_array($replies) ? $replies : [] as $reply) {
            if ($reply instanceof ErrorInterface) { // if the client was told not to throw
                return $reply->getMessage();
            }
        }
        return self::isTaken($commands, $replies) ? null : 'no reply';
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     * @return ?string what Redis says against it
     */
    private static function sendInPipeline(\Redis|Relay $redis, array $commands): ?string
    {
        if ($redis->getMode() !== $redis::ATOMIC) {
            return 'the connection is in MULTI or in a pipeline';
        }
        $redis->clearLastError();
        $redis->pipeline();
        foreach ($commands as $words) {
            $redis->rawCommand(...$words);
        }
        return self::isTaken($commands, $redis->exec()) ? null : $redis->getLastError() ?? 'no reply';
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands EVAL
     * @return ?string what Redis says against it
     */
    private static function sendToCluster(\RedisCluster $redis, string $log, array $commands): ?string
    {
        if ($redis->getMode() !== \Redis::ATOMIC) {
            return 'the connection is in MULTI';
        }
        $redis->clearLastError();
        $replies = array_map(static fn (array $words): mixed => $redis->rawCommand($log, ...$words), $commands); // it has no pipelines
        return self::isTaken($commands, $replies) ? null : $redis->getLastError() ?? 'no reply';
    }

    /**
     * Whether each reply is that of its command: an id, or OK to SELECT. A reply to an earlier command moves all of them.
     *
     * @param non-empty-list<non-empty-list<string>> $commands
     */
    private static function isTaken(array $commands, mixed $replies): bool
    {
        if (!is_array($replies) || count($replies) !== count($commands)) {
            return false;
        }
        foreach ($commands as $index => $words) {
            $reply = $replies[$index] ?? null;
            $isOk = $reply === true || $reply === 'OK' || ($reply instanceof Status && $reply->getPayload() === 'OK');
            if ($words[0] === 'SELECT' ? !$isOk : !is_string($reply) || preg_match('/^\d+-\d+$/D', $reply) !== 1) {
                return false;
            }
        }
        return true;
    }

    private function connected(): \Redis|\RedisCluster|Relay|ClientInterface
    {
        $connection = ($this->connect)();
        if ($connection instanceof \RedisCluster) {
            $connection->setOption(\Redis::OPT_PREFIX, ''); // rawCommand() would choose the node by it
        } elseif ($connection instanceof \Redis || $connection instanceof Relay) {
            $this->database = (int) $connection->getDBNum();
        }
        $this->process = getmypid();
        return $connection;
    }

    /** Also if it is persistent: another request must not read the replies that are on their way. */
    private function disconnect(): void
    {
        $connection = $this->connection;
        $this->connection = null;
        try {
            $connection instanceof ClientInterface ? $connection->disconnect() : $connection?->close();
        } catch (\Exception) {
        }
    }
}
