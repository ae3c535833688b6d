<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** The guard in front of a real Redis and of SQLite. */
final class ProductFinderTest extends TestCase
{
    /** Finds two products, and says how often it has asked Redis. */
    private const PAGE = <<<'PHP'
        require FOLDER . '/../php/bootstrap.php';
        require FOLDER . '/Database.php';
        require FOLDER . '/guard/ProductFinder.php';
        require FOLDER . '/guard/RedisCache.php';
        $cache = new App\RedisCache(getenv('EXAMPLES_REDIS'), secondsToWait: 0.2);
        $finder = new App\ProductFinder(new KeySieve\Set('products'), $cache, new App\Database());
        if ($finder->find('42')['name'] . $finder->find('43')['name'] === 'Cat foodScratching post') {
            echo json_encode(['worker' => getmypid(), 'answer' => $cache->asked]);
        }
        PHP;

    private RedisServer $redis;
    private Examples $examples;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->examples = $this->examplesThatWait('60'); // a Redis that is slow because the machine is does not hang
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

    public function testMissingProductsReachNeitherRedisNorSql(): void
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

    public function testANewProductIsFoundOnceItIsAdded(): void
    {
        Program::output(['rm', '-rf', SharedMemory::folder('products')]);
        $loader = new Loader(['products'], $this->redis->url);
        $loader->push($this->examples->build('products', $this->redis->url));
        $absent = "1 ids, Redis asked 0 times, SQL 0 times\n";
        self::assertSoon(fn (): bool => $this->find('44') === $absent, $loader->log(...));

        $this->examples->query("INSERT INTO products VALUES (44, 'Basket')");
        self::assertSame($absent, $this->find('44'), 'the row is there, and nobody has added its key');
        $loader->add('products', '44');
        self::assertSoon(fn (): bool => str_starts_with($this->find('44'), "44: Basket\n"));
        unset($loader);
        Program::output(['rm', '-rf', SharedMemory::folder('products')]);
    }

    public function testAHangingRedisCostsItsTimeLimitOnce(): void
    {
        $this->redis->freeze();
        $examples = $this->examplesThatWait('0.1', (new Clock())->environment());
        $examples->output('setup.php');
        $found = $examples->run('guard/find.php', '42', '43');
        self::assertSame("42: Cat food\n43: Scratching post\n2 ids, Redis asked 1 times, SQL 2 times\n", $found->output);
        self::assertStringContainsString('read error', $found->errors);
    }

    public function testAllWorkersLeaveAHangingRedisAlone(): void
    {
        $clock = new Clock();
        $pages = $this->examples->pool(page: self::PAGE, clock: $clock);
        $this->redis->freeze();
        $asked = fn (): array => array_values($pages->askBothWorkers());
        self::assertSoon(static fn (): bool => $asked() === [0, 0]);
        $this->redis->thaw();
        self::assertSame([0, 0], $asked());
        self::assertSoon(static function () use ($clock, $asked): bool {
            $clock->advance(5); // for so long they leave it alone
            return $asked() === [2, 2];
        });
    }

    public function testWithoutApcuAHangingRedisCostsEachRequestItsTimeLimitOnce(): void
    {
        $pages = $this->examples->pool(['apc.enabled' => '0'], self::PAGE);
        $this->redis->freeze();
        foreach (range(1, 3) as $_) {
            self::assertSame([1, 1], array_values($pages->askBothWorkers()));
        }
    }

    /** @param array<string, string> $environment */
    private function examplesThatWait(string $secondsForRedis, array $environment = []): Examples
    {
        return new Examples($environment + ['EXAMPLES_REDIS' => $this->redis->socket, 'EXAMPLES_REDIS_SECONDS' => $secondsForRedis]);
    }

    private function find(string $id): string
    {
        return $this->examples->run('guard/find.php', $id)->output;
    }
}
