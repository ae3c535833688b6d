<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\TestCase;

/** Workers of php-fpm that are killed, or run out of memory. FpmLoadTest starts it again. */
final class FpmFaultsTest extends TestCase
{
    private const KEYS = 20_000;

    public function testAKilledWorkerHarmsNoOtherRequest(): void
    {
        $snapshot = SharedMemory::build('killed', self::keys(self::KEYS));
        SharedMemory::publish($snapshot);
        $pool = new FpmPool(<<<'PHP'
            $set = new KeySieve\Set('killed');
            for ($end = hrtime(true) + 5e6; hrtime(true) < $end;) {
                $keys = array_map(static fn (): string => 'key ' . random_int(1, 20_000), range(1, 20));
                $set->candidates([...$keys, 'absent']) === $keys || exit('wrong');
            }
            echo 'right';
            PHP);
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
            usleep(mt_rand(0, 12_000)); // a request is there after some milliseconds, and takes 5
            posix_kill($victim, SIGKILL);
            $answered = 0;
            foreach ($requests as $request) {
                try {
                    self::assertSame('right', $request->body());
                    ++$answered;
                } catch (\RuntimeException $exception) {
                    self::assertMatchesRegularExpression('/^cgi-fcgi ended with (104|253):/', $exception->getMessage()); // reset or closed
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
}
