<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Set;
use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\TestCase;
use KeySieve\Tests\Support\VerifyingPage;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** Workers, masters and loaders of a php-fpm that is asked all the time end, are killed and start again. */
#[Group('faults')]
final class FpmFaultsTest extends TestCase
{
    private const KEYS = 20_000;
    private const CLIENTS = 4;

    /** A client: asks for the page without a pause until its standard input ends, and prints how that went. */
    private const CLIENT = <<<'PHP'
        require $argv[1];
        $answers = ['right' => 0, 'wrong' => [], 'failed' => []];
        stream_set_blocking(STDIN, false);
        while (fread(STDIN, 1) === '' && !feof(STDIN)) {
            try {
                $body = (new KeySieve\Tests\Support\FastCgiRequest($argv[2], $argv[3]))->body();
                if ($body === 'right') {
                    ++$answers['right'];
                } else {
                    $answers['wrong'][] = $body;
                }
            } catch (RuntimeException $exception) {
                $isAnswer = str_contains($exception->getMessage(), 'Status: 500');
                $answers[$isAnswer ? 'wrong' : 'failed'][] = $exception->getMessage();
            }
        }
        echo json_encode($answers);
        PHP;

    private string $snapshot;
    private FpmPool $pool;
    /** @var Background[] */
    private array $clients = [];

    protected function tearDown(): void
    {
        unset($this->clients, $this->pool);
    }

    public function testAKilledWorkerHarmsNoOtherRequest(): void
    {
        $this->serve('killed', milliseconds: 5);
        mt_srand(1);
        $rounds = Soak::rounds(30, 1000);
        [$right, $cut, $publications] = [0, 0, 1];
        for ($kills = 0; $cut < $rounds; ++$kills) {
            if ($kills % 10 === 9) {
                SharedMemory::publish($this->snapshot);
                ++$publications;
            }
            self::assertSoon(fn (): bool => count($this->pool->workers()) === 2);
            $victim = $this->pool->workers()[mt_rand(0, 1)];
            $requests = [$this->pool->request(), $this->pool->request(), $this->pool->request()];
            usleep(mt_rand(0, 6_000));
            posix_kill($victim, SIGKILL);
            $answered = 0;
            foreach ($requests as $request) {
                try {
                    self::assertSame('right', $request->body());
                    ++$answered;
                } catch (\RuntimeException $exception) {
                    self::assertStringContainsString('closed the connection', $exception->getMessage());
                }
            }
            self::assertGreaterThanOrEqual(2, $answered, 'one worker was killed, which had one request');
            $right += $answered;
            $cut += 3 - $answered;
            // Until it has ended, it may still take a request of the next round.
            self::assertSoon(static fn (): bool => !posix_kill($victim, 0));
        }
        self::assertSame('', file_get_contents($this->pool->log));
        self::assertLessThanOrEqual(2, count(glob(SharedMemory::folder('killed') . '/*.ks')));
        Soak::report("php-fpm workers killed: $cut in the middle of a request, in $publications publications; $right other "
            . 'requests: none failed, none wrong');
    }

    public function testReloadsAndRestartsOfFpmFailNoRequest(): void
    {
        $this->serveWithoutPause('restarted');
        $rounds = Soak::rounds(2, 200);
        for ($round = 0; $round < $rounds; ++$round) {
            $this->replaceWorkers($this->pool->reload(...));
            SharedMemory::publish($this->snapshot);
            $this->replaceWorkers($this->pool->restart(...));
            SharedMemory::publish($this->snapshot);
        }
        $this->report("php-fpm: $rounds reloads, $rounds restarts");
    }

    /** The whole way of the data: key list, snapshot of another kind and seed each time, LMDB, the real keysieved, shared memory, php-fpm. */
    public function testRestartsOfKeysievedFailNoRequest(): void
    {
        $loader = new Loader(['followed']);
        $kinds = SharedMemory::kinds();
        $push = static fn (int $round) => $loader->push(SharedMemory::build('followed', self::keys(self::KEYS), ['--kind', $kinds[$round % count($kinds)]]));
        $push(0);
        self::assertSoon(static fn (): bool => (new Set('followed'))->info() !== null, $loader->log(...));
        $this->pool = new FpmPool(VerifyingPage::script('followed', self::KEYS));
        $this->startClients();
        $rounds = Soak::rounds(count($kinds), 400);
        for ($round = 0; $round < $rounds; ++$round) {
            $push($round + 1);
            $loader->restart($round % 2 === 0 ? SIGTERM : SIGKILL);
        }
        $last = static fn (): bool => (new Set('followed'))->info()->generation === $rounds + 1;
        self::assertSoon($last, $loader->log(...));
        $this->report("keysieved under php-fpm: $rounds restarts, every other one by SIGKILL");
    }

    /** @return iterable<string, array{array<string, string>}> */
    public static function processManagers(): iterable
    {
        yield 'dynamic' => [[
            'pm' => 'dynamic', 'pm.max_children' => '4', 'pm.start_servers' => '1',
            'pm.min_spare_servers' => '1', 'pm.max_spare_servers' => '2', 'pm.max_requests' => '20',
        ]];
        yield 'ondemand' => [[
            'pm' => 'ondemand', 'pm.max_children' => '4', 'pm.process_idle_timeout' => '1s', 'pm.max_requests' => '20',
        ]];
    }

    /** @param array<string, string> $directives */
    #[DataProvider('processManagers')]
    public function testWorkersThatComeAndGoFailNoRequest(array $directives): void
    {
        $this->serve('come-and-go-' . $directives['pm'], $directives);
        $this->startClients();
        $rounds = Soak::rounds(10, 1000);
        $workers = [];
        for ($round = 0; $round < $rounds; ++$round) {
            SharedMemory::publish($this->snapshot);
            usleep(20_000);
            $workers += array_flip($this->pool->workers());
        }
        self::assertSoon(function () use (&$workers): bool {
            $workers += array_flip($this->pool->workers());
            return count($workers) > 4;
        }, 'workers have ended and others have come');
        $this->report("pm = {$directives['pm']}: $rounds publications, " . count($workers) . ' workers seen');
    }

    /** PHP ends the request; the worker goes on. */
    public function testTheNextRequestAfterMemoryLimitIsAnsweredRightly(): void
    {
        SharedMemory::put('limited', ['apple']);
        $pool = new FpmPool(<<<'PHP'
            $set = new KeySieve\Set('limited');
            if ($_SERVER['QUERY_STRING'] === 'too-much') {
                $keys = array_fill(0, 100_000, 'pear');
                ini_set('memory_limit', memory_get_usage(true));
                $set->mayContainMany($keys);
            }
            echo json_encode([getmypid(), $set->mayContainMany(['apple', 'pear'])]);
            PHP, ['pages' => ['pm.max_children' => '1']]);
        [$worker] = json_decode($pool->request()->body());
        for ($request = 0; $request < 20; ++$request) {
            self::assertStringNotContainsString("[$worker", $pool->request('too-much')->body());
            self::assertSame("[$worker,[true,false]]", $pool->request()->body());
        }
    }

    /**
     * Publishes a set, and starts a php-fpm whose page verifies it.
     *
     * @param array<string, string> $directives as of FpmPool
     * @param resource|null         $listening  as of FpmPool
     */
    private function serve(string $set, array $directives = [], $listening = null, int $milliseconds = 0): void
    {
        $this->snapshot = SharedMemory::build($set, self::keys(self::KEYS));
        SharedMemory::publish($this->snapshot);
        $page = VerifyingPage::script($set, self::KEYS, milliseconds: $milliseconds);
        $this->pool = new FpmPool($page, ['pages' => $directives], $listening);
    }

    /** The same with clients, whose connections are also taken while there is no master. */
    private function serveWithoutPause(string $set): void
    {
        $this->serve($set, listening: stream_socket_server('tcp://127.0.0.1:0'));
        $this->startClients();
    }

    private function startClients(): void
    {
        $script = dirname(__DIR__) . '/Support/FastCgiRequest.php';
        $command = [PHP_BINARY, '-n', '-r', self::CLIENT, $script, $this->pool->address('pages'), $this->pool->page];
        for ($i = 0; $i < self::CLIENTS; ++$i) {
            $this->clients[] = new Background(new Folder('client'), $command, files: [['pipe', 'r']]);
        }
    }

    /** Does what makes php-fpm replace both workers, and waits until they are others. */
    private function replaceWorkers(callable $do): void
    {
        $both = fn (): bool => count($this->pool->workers()) === 2;
        self::assertSoon($both); // its master takes a moment to start each
        $before = $this->pool->workers();
        $do();
        $workers = fn (): string => implode(' ', $before) . ' before, ' . implode(' ', $this->pool->workers()) . ' now';
        self::assertSoon(fn (): bool => $both() && array_intersect($this->pool->workers(), $before) === [], $workers);
    }

    /** Stops the clients. Every request must have been answered, and rightly. */
    private function report(string $what): void
    {
        foreach ($this->clients as $client) {
            fclose($client->pipes[0]);
        }
        $right = 0;
        foreach ($this->clients as $client) {
            $client->status();
            $answers = json_decode($client->output(), true, flags: JSON_THROW_ON_ERROR);
            self::assertSame(['wrong' => [], 'failed' => []], array_slice($answers, 1));
            $right += $answers['right'];
        }
        self::assertGreaterThan(0, $right);
        Soak::report("$what; " . number_format($right) . ' requests: none failed, none wrong');
    }
}
