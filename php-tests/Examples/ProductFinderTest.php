<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** The guard in front of a real Redis and of SQLite. */
final class ProductFinderTest extends TestCase
{
    private RedisServer $redis;
    private Examples $examples;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket]);
        $this->examples->setUp('products');
    }

    protected function tearDown(): void
    {
        unset($this->examples, $this->redis);
    }

    public function testAnIdIsANumberHoweverItIsWritten(): void
    {
        self::assertSame(
            "42: Cat food\n+42: Cat food\n42 : Cat food\n7 ids, Redis asked 4 times, SQL 1 times\n",
            $this->examples->output('guard/find.php', '42', '+42', '42 ', '042', '42.0', 'x', '1e3'),
        );
        self::assertSame('{"id":42,"name":"Cat food"}', $this->redis->command('GET', 'product:42'));
    }

    public function testWhoAsksForWhatDoesNotExistReachesNeitherRedisNorSql(): void
    {
        $ids = array_map(strval(...), range(100_000, 102_999));
        $this->redis->command('CONFIG', 'RESETSTAT');
        self::assertSame(
            "3000 ids, Redis asked 0 times, SQL 0 times\n",
            $this->examples->output('guard/find.php', ...$ids),
        );
        self::assertStringNotContainsString('cmdstat_get:', $this->redis->command('INFO', 'commandstats'));
        SharedMemory::bypass('products');
        try {
            self::assertSame(
                "3000 ids, Redis asked 3000 times, SQL 3000 times\n",
                $this->examples->run('guard/find.php', ...$ids)->output,
            );
        } finally {
            SharedMemory::bypass('products', '--off');
        }
        self::assertStringContainsString('cmdstat_get:calls=3000,', $this->redis->command('INFO', 'commandstats'));
    }

    public function testWithoutRedisTheDatabaseAnswers(): void
    {
        $this->redis->stop();
        $found = $this->examples->run('guard/find.php', '42', '43', '44');
        self::assertSame("42: Cat food\n43: Scratching post\n3 ids, Redis asked 1 times, SQL 2 times\n", $found->output);
        self::assertSame(1, substr_count($found->errors, $this->redis->socket));
    }

    public function testARedisThatHangsCostsItsTimeLimitOnce(): void
    {
        $this->redis->freeze();
        $found = $this->examples->run('guard/find.php', '42', '43');
        self::assertSame("42: Cat food\n43: Scratching post\n2 ids, Redis asked 1 times, SQL 2 times\n", $found->output);
        self::assertStringContainsString('read error', $found->errors);
    }
}
