<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Set;
use KeySieve\Tests\Support\Clients;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\StandingPublish;
use KeySieve\Tests\Support\TestCase;
use KeySieve\Tests\Support\VerifyingPage;

/**
 * Workers, masters and loaders of a php-fpm that is asked all the time end, are killed and start again.
 *
 * @group faults
 */
final class FpmFaultsTest extends TestCase
{
    private const KEYS = 20_000;

    public function testWorkersKilledInTheMiddleOfARequestHarmNobodyElse(): void
    {
        $snapshot = SharedMemory::build('killed', VerifyingPage::keys(self::KEYS));
        SharedMemory::publish($snapshot);
        $pool = new FpmPool(VerifyingPage::script('killed', self::KEYS, milliseconds: 5));
        mt_srand(1);
        $rounds = Soak::rounds(30, 1000);
        [$right, $cut, $publications] = [0, 0, 1];
        for ($kills = 0; $cut < $rounds; ++$kills) {
            if ($kills % 10 === 9) {
                SharedMemory::publish($snapshot);
                ++$publications;
            }
            self::assertSoon(static fn (): bool => count($pool->workers()) === 2);
            $victim = $pool->workers()[mt_rand(0, 1)];
            $requests = [$pool->request(), $pool->request(), $pool->request()];
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
        self::assertSame('', file_get_contents($pool->log));
        self::assertLessThanOrEqual(2, count(glob(SharedMemory::folder('killed') . '/*.ks')));
        Soak::report("php-fpm workers killed: $cut in the middle of a request, in $publications publications; $right other "
            . 'requests: none failed, none wrong');
    }

    public function testReloadsAndRestartsOfFpmFailNoRequest(): void
    {
        $snapshot = SharedMemory::build('restarted', VerifyingPage::keys(self::KEYS));
        SharedMemory::publish($snapshot);
        $listening = stream_socket_server('tcp://127.0.0.1:0');
        $pool = new FpmPool(VerifyingPage::script('restarted', self::KEYS), ['pages' => []], $listening);
        $clients = new Clients($pool);
        $rounds = Soak::rounds(2, 200);
        for ($round = 0; $round < $rounds; ++$round) {
            $this->awaitOthersThan($pool->workers(), $pool, $pool->reload(...));
            SharedMemory::publish($snapshot);
            $this->awaitOthersThan($pool->workers(), $pool, $pool->restart(...));
            SharedMemory::publish($snapshot);
        }
        $this->report($clients, "php-fpm: $rounds reloads, $rounds restarts");
    }

    public function testReloadsWhileAPublishStandsStill(): void
    {
        $snapshot = SharedMemory::build('half', VerifyingPage::keys(self::KEYS));
        SharedMemory::publish($snapshot);
        $listening = stream_socket_server('tcp://127.0.0.1:0');
        $pool = new FpmPool(VerifyingPage::script('half', self::KEYS), ['pages' => []], $listening);
        $clients = new Clients($pool);
        $rounds = Soak::rounds(count(StandingPublish::MOMENTS), 200);
        for ($round = 0; $round < $rounds; ++$round) {
            $publish = new StandingPublish($snapshot, StandingPublish::MOMENTS[$round % count(StandingPublish::MOMENTS)]);
            $this->awaitOthersThan($pool->workers(), $pool, $pool->reload(...));
            self::assertTrue($publish->isUnderWay());
            self::assertSame(0, $publish->goOn());
        }
        $this->report($clients, "php-fpm: $rounds reloads while a publish stood still in its middle");
    }

    public function testRestartsOfKeysievedFailNoRequest(): void
    {
        $loader = new Loader(['followed']);
        $build = static fn (): string => SharedMemory::build('followed', VerifyingPage::keys(self::KEYS));
        $loader->push($build());
        self::assertSoon(static fn (): bool => (new Set('followed'))->info() !== null, $loader->log(...));
        $pool = new FpmPool(VerifyingPage::script('followed', self::KEYS));
        $clients = new Clients($pool);
        $rounds = Soak::rounds(4, 400);
        for ($round = 0; $round < $rounds; ++$round) {
            $loader->push($build());
            $loader->restart($round % 2 === 0 ? SIGTERM : SIGKILL);
        }
        self::assertTrue(
            Deadline::reaches(static fn (): bool => (new Set('followed'))->info()->generation === $rounds + 1),
            $loader->log(),
        );
        $this->report($clients, "keysieved under php-fpm: $rounds restarts, every other one by SIGKILL");
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

    /**
     * @dataProvider processManagers
     *
     * @param array<string, string> $pool
     */
    public function testWorkersThatComeAndGo(array $pool): void
    {
        $name = 'come-and-go-' . $pool['pm'];
        $snapshot = SharedMemory::build($name, VerifyingPage::keys(self::KEYS));
        SharedMemory::publish($snapshot);
        $fpm = new FpmPool(VerifyingPage::script($name, self::KEYS), ['pages' => $pool]);
        $clients = new Clients($fpm);
        $rounds = Soak::rounds(10, 1000);
        $workers = [];
        for ($round = 0; $round < $rounds; ++$round) {
            SharedMemory::publish($snapshot);
            usleep(20_000);
            $workers += array_flip($fpm->workers());
        }
        self::assertSoon(static function () use ($fpm, &$workers): bool {
            $workers += array_flip($fpm->workers());
            return count($workers) > 4;
        }, 'workers have ended and others have come');
        $this->report($clients, "pm = {$pool['pm']}: $rounds publications, " . count($workers) . ' workers seen');
    }

    /** @param int[] $before */
    private function awaitOthersThan(array $before, FpmPool $pool, callable $do): void
    {
        $do();
        self::assertSoon(
            static fn (): bool => count($pool->workers()) === count($before) && array_intersect($pool->workers(), $before) === [],
        );
    }

    private function report(Clients $clients, string $what): void
    {
        ['right' => $right, 'wrong' => $wrong, 'failed' => $failed] = $clients->stop();
        self::assertSame([], $wrong);
        self::assertSame([], $failed);
        self::assertGreaterThan(0, $right);
        Soak::report("$what; " . number_format($right) . ' requests: none failed, none wrong');
    }
}
