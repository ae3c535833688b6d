<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** RedisAdds with its clients, and a queue. ReadmeTest has a loader too, ApplicationsTest the frameworks. */
final class AddsTest extends TestCase
{
    private RedisServer $redis;
    private Examples $examples;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket]);
    }

    /** @return iterable<string, array{string, string}> what code prints, and the code */
    public static function calls(): iterable
    {
        yield 'keys are added as bytes, whatever the connection does to others' => ['[]4' . bin2hex("2024|\0\xff\r\n||猫"), <<<'PHP'
            $redis->setOption(Redis::OPT_PREFIX, 'site:');
            $redis->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_PHP);
            (new RedisAdds(static fn () => $redis, 'shop'))->add('tags', 2024, "\0\xff\r\n", '', '猫');
            echo json_encode($redis->keys('*')), $redis->rawCommand('XLEN', 'shop:tags:adds');
            $redis->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_NONE);
            $redis->setOption(Redis::OPT_PREFIX, '');
            echo bin2hex(implode('|', array_column($redis->xRange('shop:tags:adds', '-', '+'), 'key')));
            PHP];
        yield 'many keys are added in their order' => ['true2504last', <<<'PHP'
            (new RedisAdds(static fn () => $redis))->add('tags', ...range(1, 2_500), ...array_fill(0, 3, str_repeat('x', 700_000)), ...['last']);
            $entries = array_column($redis->xRange('keysieve:tags:adds', '-', '+'), 'key');
            echo json_encode(array_slice($entries, 0, 2_500) === array_map(strval(...), range(1, 2_500))), count($entries), end($entries);
            PHP];
        // As `keysieve add` does, so that a loader notices what a server has lost.
        yield 'each entry says when its log was begun and the count' => ['1231', <<<'PHP'
            $adds = new RedisAdds(static fn () => $redis);
            $adds->add('tags', 'a', 'b');
            $redis->xAdd('keysieve:tags:adds', '*', ['key' => 'of another client']);
            $adds->add('tags', 'c');
            $counted = array_filter($redis->xRange('keysieve:tags:adds', '-', '+'), static fn (array $entry): bool => isset($entry['count']));
            echo implode(array_column($counted, 'count')), count(array_unique(array_column($counted, 'log')));
            PHP];
        yield 'loaders are told once' => ['*3 $7 message $12 shop:changes $14 shop:tags:adds *3 $7 message $12 shop:changes $3 end', <<<'PHP'
            $loader = stream_socket_client('unix://' . getenv('EXAMPLES_REDIS'));
            $heard = static fn (int $lines): string => implode(' ', array_map(static fn (): string => trim(fgets($loader)), range(1, $lines)));
            fwrite($loader, "SUBSCRIBE shop:changes\r\n");
            $heard(6);
            (new RedisAdds(static fn () => $redis, 'shop'))->add('tags', 'a', 'b');
            $redis->publish('shop:changes', 'end');
            echo $heard(14);
            PHP];
        yield 'a key longer than 1 MiB rejects the whole call' => ['a key has 1048577 bytes, and loaders skip those with more than 10485760', <<<'PHP'
            $long = str_repeat('x', 1 << 20);
            try {
                (new RedisAdds(static fn () => $redis))->add('tags', 'short', "{$long}x");
            } catch (LengthException $error) {
                echo $error->getMessage(), $redis->exists('keysieve:tags:adds');
            }
            (new RedisAdds(static fn () => $redis))->add('tags', $long);
            PHP];
        // As Redis does with clients that are idle for longer than its setting `timeout`.
        yield 'an open connection may have been closed' => ['ab', <<<'PHP'
            $adds = new RedisAdds(connect(...));
            $adds->add('tags', 'a');
            $redis->rawCommand('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            $adds->add('tags', 'b');
            echo implode(array_unique(array_column($redis->xRange('keysieve:tags:adds', '-', '+'), 'key')));
            PHP]; // b may be there twice, if only its reply was lost
        // Other code has chosen a database, and PHP keeps the connection for the next object.
        yield 'a persistent connection gets its own database' => ['[true,2]', <<<'PHP'
            function persistent(): Redis
            {
                $redis = new Redis();
                $redis->pconnect(getenv('EXAMPLES_REDIS'));
                return $redis;
            }
            $other = persistent();
            $other->select(5);
            $id = $other->rawCommand('CLIENT', 'ID');
            unset($other);
            $adds = new RedisAdds(static fn (): Redis => persistent());
            $adds->add('tags', 'a');
            $adds->add('tags', 'b');
            unset($adds);
            echo json_encode([persistent()->rawCommand('CLIENT', 'ID') === $id, $redis->rawCommand('XLEN', 'keysieve:tags:adds')]);
            PHP];
        yield 'the database is that of the new connection' => ['2', <<<'PHP'
            $shared = connect();
            $shared->select(3);
            $adds = new RedisAdds(static fn (): Redis => $shared);
            $adds->add('tags', 'a');
            $shared->select(5);
            $adds->add('tags', 'b');
            $redis->select(3);
            echo $redis->rawCommand('XLEN', 'keysieve:tags:adds');
            PHP];
        yield 'a queue takes what the store does not' => ['0' . bin2hex("42|\xff"), <<<'PHP'
            $queue = [];
            $enqueue = static function (QueuedKeys $keys) use (&$queue): void {
                $queue[] = json_encode($keys, JSON_THROW_ON_ERROR);
            };
            $adds = new QueuedAdds(new RedisAdds(static fn () => $redis), $enqueue);
            $adds->add('tags', 'a');
            echo count($queue);
            $redis->set('keysieve:users:adds', 'x');
            $adds->add('users', 42, "\xff");
            $redis->del('keysieve:users:adds');
            foreach ($queue as $json) {
                $keys = json_decode($json, true);
                (new QueuedKeys(...$keys))->addTo(new RedisAdds(static fn () => $redis));
            }
            echo bin2hex(implode('|', array_column($redis->xRange('keysieve:users:adds', '-', '+'), 'key')));
            PHP];
    }

    #[DataProvider('calls')]
    public function testKeysReachTheLog(string $expected, string $code): void
    {
        self::assertSame($expected, $this->code($code));
    }

    /** @return iterable<string, array{string, string, string}> what gives the connection, a set, and what is thrown */
    public static function troubles(): iterable
    {
        $ofTheLog = 'KeySieve\Adds\AddException: keysieve:tags:adds: ';
        yield 'no log' => ['$redis->set("keysieve:tags:adds", "x") ? $redis : null', 'tags', "{$ofTheLog}WRONGTYPE%A"];
        yield 'a transaction' => ['$redis->multi()', 'tags', "$ofTheLog%AMULTI%A"];
        yield 'a pipeline' => ['$redis->pipeline()', 'tags', "$ofTheLog%AMULTI%A"];
        yield 'nobody listens' => ['connect(path: "/nowhere")', 'tags', "$ofTheLog%ANo such file%A"];
        yield 'another client' => ['new ArrayObject()', 'tags', 'TypeError: %APredis\ClientInterface, ArrayObject returned'];
        yield 'a name that no set has' => ['$redis', 'Tags', 'KeySieve\InvalidNameException: %AArgument #1 ($set) must be 1 to 64 characters%A'];
    }

    #[DataProvider('troubles')]
    public function testAnAddThatMayHaveFailedThrows(string $connection, string $set, string $thrown): void
    {
        self::assertStringMatchesFormat($thrown, $this->code(<<<PHP
            try {
                (new RedisAdds(static fn () => $connection))->add('$set', 'x');
            } catch (Throwable \$error) {
                echo \$error::class, ': ', \$error->getMessage();
            }
            PHP));
    }

    /** phpredis 5.3 would take the late reply for that of the next command. */
    public function testAReplyThatComesTooLateIsTakenForNoOther(): void
    {
        $output = $this->code("const PID = {$this->redis->pid()};" . <<<'PHP'
            $seconds = 60;
            $adds = new RedisAdds(static function () use (&$seconds, &$open): Redis {
                return $open = connect($seconds);
            });
            $adds->add('tags', 'a');
            posix_kill(PID, SIGSTOP);
            $seconds = 0.5;
            $open->setOption(Redis::OPT_READ_TIMEOUT, $seconds);
            try {
                $adds->add('tags', 'b', 'c');
            } catch (KeySieve\Adds\AddException) {
                posix_kill(PID, SIGCONT);
                $seconds = 60;
                $adds->add('users', 'd');
                $adds->add('users', 'e');
                echo json_encode(array_column($redis->xRange('keysieve:users:adds', '-', '+'), 'key'));
            }
            PHP);
        self::assertSame('["d","e"]', $output);
    }

    public function testAForkedProcessOpensItsOwnConnection(): void
    {
        $output = $this->code(<<<'PHP'
            $opened = 0;
            $adds = new RedisAdds(static function () use (&$opened): Redis {
                ++$opened;
                return connect();
            });
            $adds->add('tags', 'a');
            $child = pcntl_fork();
            if ($child !== 0) {
                pcntl_waitpid($child, $status);
            }
            $adds->add('tags', $child === 0 ? 'b' : 'c');
            echo $opened, ' ';
            PHP);
        self::assertSame('2 1 ', $output);
        self::assertSame(['a', 'b', 'c'], $this->redis->added('tags'));
    }

    /** The extension relay is not installed: this has its methods, and nothing of phpredis' constants. */
    public function testRelayIsUsedAsPhpredisIs(): void
    {
        $output = $this->code(<<<'PHP'
            eval('namespace Relay; final class Relay {
                const ATOMIC = 0;
                public function __construct(private readonly \Redis $redis) {}
                public function __call($name, $arguments) {
                    $result = $this->redis->$name(...$arguments);
                    return $result === $this->redis ? $this : $result;
                }
            }');
            $adds = new RedisAdds(static fn () => new Relay\Relay(connect()));
            $adds->add('tags', 'a', 'b');
            $redis->set('keysieve:users:adds', 'x');
            try {
                $adds->add('users', 'c');
            } catch (KeySieve\Adds\AddException $error) {
                echo $error->getMessage();
            }
            PHP);
        self::assertStringStartsWith('keysieve:users:adds: WRONGTYPE', $output);
        self::assertSame(['a', 'b'], $this->redis->added('tags'));
    }

    #[Group('frameworks')]
    public function testPredis(): void
    {
        $output = $this->code($this->predis() . <<<'PHP'
            $client = static fn (bool $isPersistent, bool $throws = true): Predis\Client => new Predis\Client(
                ['scheme' => 'unix', 'path' => getenv('EXAMPLES_REDIS'), 'persistent' => $isPersistent],
                ['prefix' => 'site:', 'exceptions' => $throws],
            );
            $other = $client(true);
            $other->select(5);
            $adds = new RedisAdds(static fn () => $client(true));
            $adds->add('tags', 2024, 'a');
            $other->select(5);
            $adds->add('tags', 'b');
            $redis->set('keysieve:users:adds', 'x');
            $late = $client(false);
            $late->getConnection()->writeRequest(Predis\Command\RawCommand::create('PING'));
            foreach ([['users', $client(false)], ['users', $client(false, false)], ['tags', $late]] as [$set, $connection]) {
                try {
                    (new RedisAdds(static fn () => $connection))->add($set, 'c');
                } catch (KeySieve\Adds\AddException $error) {
                    echo substr($error->getMessage(), 0, 30), "\n";
                }
            }
            PHP);
        self::assertSame("keysieve:users:adds: WRONGTYPE\nkeysieve:users:adds: WRONGTYPE\nkeysieve:tags:adds: no reply\n", $output);
        self::assertSame(['2024', 'a', 'b', 'c'], $this->redis->added('tags'));
    }

    public function testAClusterWhateverThePrefix(): void
    {
        $this->addToCluster(<<<'PHP'
            function cluster(): RedisCluster
            {
                $cluster = new RedisCluster(null, ['127.0.0.1:' . PORT], 60, 60);
                $cluster->setOption(Redis::OPT_PREFIX, 'site:');
                return $cluster;
            }
            PHP);
    }

    #[Group('frameworks')]
    public function testAClusterByPredis(): void
    {
        $this->addToCluster($this->predis() . <<<'PHP'
            function cluster(): Predis\Client
            {
                return new Predis\Client(['tcp://127.0.0.1:' . PORT], ['cluster' => 'redis', 'prefix' => 'site:']);
            }
            PHP);
    }

    /** @param string $connect defines cluster() */
    private function addToCluster(string $connect): void
    {
        [$first, $second] = RedisServer::cluster();
        $first->command('SET', 'keysieve:wrong:adds', 'x');
        $output = $this->code("const PORT = {$first->port};$connect" . <<<'PHP'
            foreach (['tags', 'users', 'shop', 'x1', 'x2'] as $set) {
                (new RedisAdds(cluster(...)))->add($set, $set, '猫');
            }
            try {
                (new RedisAdds(cluster(...)))->add('wrong', '猫');
            } catch (KeySieve\Adds\AddException $error) {
                echo $error->getMessage(), "\n";
            }
            PHP);
        self::assertStringStartsWith('keysieve:wrong:adds: WRONGTYPE', $output);
        foreach (['tags', 'users', 'shop', 'x1', 'x2'] as $set) {
            self::assertSame([$set, '猫'], $first->added($set));
        }
        self::assertGreaterThan(1, $first->command('DBSIZE'));
        self::assertGreaterThan(1, $second->command('DBSIZE'));
    }

    private function predis(): string
    {
        return 'require ' . var_export(Framework::project('predis', ['predis/predis' => '*']) . '/vendor/autoload.php', true) . ';';
    }

    /** Runs code that has a $redis and connect(). */
    private function code(string $code): string
    {
        return $this->examples->code(<<<'PHP'
            use KeySieve\Adds\{QueuedAdds, QueuedKeys, RedisAdds};
            require FOLDER . '/../php/bootstrap.php';
            function connect(float $seconds = 60, ?string $path = null): Redis
            {
                $redis = new Redis();
                $redis->connect($path ?? getenv('EXAMPLES_REDIS'), 0, $seconds, null, 0, $seconds);
                return $redis;
            }
            $redis = connect();

            PHP . $code);
    }
}
