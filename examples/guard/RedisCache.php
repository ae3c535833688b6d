<?php

declare(strict_types=1);

namespace App;

use Redis;
use RedisException;

/**
 * Rows in Redis. The first key that may exist opens the connection. A Redis that is down or hangs costs its time limit once,
 * and is then left alone for some seconds: the database answers instead. With APCu all workers of a php-fpm share this
 * knowledge; without it each request finds out for itself.
 */
final class RedisCache
{
    private const SECONDS_TO_KEEP = 300;
    private const SECONDS_TO_LEAVE_ALONE = 5;

    /** Number of requests to Redis: reads, writes and failures. */
    public int $asked = 0;
    private ?Redis $connection = null;
    private int $leftAloneUntil = 0;

    public function __construct(private readonly string $socket, private readonly float $secondsToWait = 0.25)
    {
    }

    /** @return ?array<string, mixed> null: not cached, or not to be had */
    public function get(string $key): ?array
    {
        $row = $this->ask(static fn (Redis $redis): mixed => $redis->get($key));
        return is_string($row) ? json_decode($row, true) : null;
    }

    /** @param array<string, mixed> $row */
    public function put(string $key, array $row): void
    {
        $this->ask(static fn (Redis $redis): mixed
            => $redis->setex($key, self::SECONDS_TO_KEEP, json_encode($row, JSON_THROW_ON_ERROR)));
    }

    private function ask(callable $command): mixed
    {
        if ($this->isLeftAlone()) {
            return null;
        }
        try {
            ++$this->asked;
            return $command($this->connection ??= $this->connect());
        } catch (RedisException $exception) {
            error_log("{$this->socket}: {$exception->getMessage()}");
            $this->connection = null;
            $this->leaveAlone();
            return null;
        }
    }

    private function isLeftAlone(): bool
    {
        $until = self::hasApcu() ? (int) apcu_fetch($this->entry()) : $this->leftAloneUntil;
        return hrtime(true) < $until;
    }

    private function leaveAlone(): void
    {
        $this->leftAloneUntil = hrtime(true) + self::SECONDS_TO_LEAVE_ALONE * 1_000_000_000;
        if (self::hasApcu()) {
            apcu_store($this->entry(), $this->leftAloneUntil);
        }
    }

    private function entry(): string
    {
        return "redis_left_alone_until:{$this->socket}";
    }

    private static function hasApcu(): bool
    {
        return function_exists('apcu_enabled') && apcu_enabled();
    }

    private function connect(): Redis
    {
        $redis = new Redis();
        $redis->connect($this->socket, 0, $this->secondsToWait, null, 0, $this->secondsToWait);
        return $redis;
    }
}
