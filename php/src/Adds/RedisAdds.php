<?php

declare(strict_types=1);

namespace KeySieve\Adds;

use KeySieve\Reader\SetName;
use Predis\ClientInterface;
use Predis\Command\CommandInterface;
use Predis\Command\RawCommand;
use Predis\Connection\NodeConnectionInterface;
use Predis\Pipeline\Pipeline;
use Predis\Response\ErrorInterface;

/**
 * Appends to the adds logs of a store in Redis, by phpredis or Predis. A loader that follows the set receives the keys, usually within
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
 * first add, and another one after a failure. Give it short time limits: the transaction stays open while Redis answers. Prefix and
 * serializer of the connection are not used, since they would change the log's name and the keys.
 */
final class RedisAdds implements Adds
{
    private const KEY_BYTES = 1 << 20; // loaders skip what is longer
    private const BATCH_KEYS = 1_000;
    private const BATCH_BYTES = 1 << 20;

    private \Redis|\RedisCluster|ClientInterface|null $connection = null;

    /**
     * @param \Closure(): (\Redis|\RedisCluster|ClientInterface) $connect makes a new connection; what it throws becomes an AddException
     * @param string $prefix `?prefix=` of the store's URL
     */
    public function __construct(
        private readonly \Closure $connect,
        private readonly string $prefix = 'keysieve',
    ) {
    }

    public function add(string $set, string|int ...$keys): void
    {
        $log = $this->prefix . ':' . SetName::checked($set, __METHOD__ . '(): Argument #1 ($set) must be') . ':adds';
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
            $this->connection ??= $this->connected();
            $refusal = $this->connection instanceof ClientInterface
                ? self::sendByPredis($this->connection, $log, $keys) : self::sendByPhpredis($this->connection, $log, $keys);
        } catch (\Exception $error) {
            $refusal = $error->getMessage();
        }
        if ($refusal !== null) {
            $this->disconnect();
            throw new AddException("$log: $refusal", 0, $error ?? null);
        }
    }

    /**
     * @param non-empty-list<string> $keys
     * @return ?string what Redis says against it
     */
    private static function sendByPredis(ClientInterface $redis, string $log, array $keys): ?string
    {
        $commands = array_map(static fn (string $key): CommandInterface => RawCommand::create('XADD', $log, '*', 'key', $key), $keys);
        $replies = $redis->getConnection() instanceof NodeConnectionInterface
            ? $redis->pipeline(static fn (Pipeline $pipeline): array => array_map($pipeline->executeCommand(...), $commands))
            : array_map($redis->executeCommand(...), $commands); // pipelines do not follow a cluster's redirections
        foreach (is_array($replies) ? $replies : [$replies] as $reply) {
            if (!is_string($reply)) { // an error, if the client was told not to throw
                return $reply instanceof ErrorInterface ? $reply->getMessage() : 'no reply';
            }
        }
        return null;
    }

    /**
     * @param non-empty-list<string> $keys
     * @return ?string what Redis says against it
     */
    private static function sendByPhpredis(\Redis|\RedisCluster $redis, string $log, array $keys): ?string
    {
        if ($redis->getMode() !== \Redis::ATOMIC) {
            return 'the connection is in MULTI or in a pipeline';
        }
        $redis->clearLastError();
        if ($redis instanceof \RedisCluster) { // has no pipelines
            $replies = array_map(static fn (string $key): mixed => $redis->rawCommand($log, 'XADD', $log, '*', 'key', $key), $keys);
        } else {
            $pipeline = $redis->pipeline();
            foreach ($keys as $key) {
                $pipeline->rawCommand('XADD', $log, '*', 'key', $key);
            }
            $replies = $pipeline->exec();
        }
        $ids = is_array($replies) ? array_filter($replies, is_string(...)) : [];
        return count($ids) === count($keys) ? null : $redis->getLastError() ?? 'no reply';
    }

    private function connected(): \Redis|\RedisCluster|ClientInterface
    {
        $connection = ($this->connect)();
        if ($connection instanceof \RedisCluster) {
            $connection->setOption(\Redis::OPT_PREFIX, ''); // rawCommand() would choose the node by it
        }
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
