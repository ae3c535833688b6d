<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** Real requests to a real php-fpm, with opcache and JIT; its workers live through all that is published. */
final class FpmTest extends TestCase
{
    private const PAGE = <<<'PHP'
        use KeySieve\Set;

        usleep(20_000); // so that both workers get requests
        parse_str($_SERVER['QUERY_STRING'], $query);
        $set = new Set($query['set']);
        echo json_encode(['worker' => getmypid(), 'answer' => match ($query['what']) {
            'keys' => $set->mayContainMany(['apple', 'pear']),
            'state' => $set->availability()->name,
            'calls' => KeySieve\stats()[$query['set']]['calls'] ?? 0,
            'jit' => opcache_get_status(false)['jit']['on'],
        }]);
        PHP;

    private static ?FpmPool $pool;

    public static function setUpBeforeClass(): void
    {
        self::$pool = new FpmPool(self::PAGE);
    }

    public static function tearDownAfterClass(): void
    {
        self::$pool = null;
    }

    public function testJitIsOn(): void
    {
        self::assertSame([true, true], array_values(self::$pool->askBothWorkers('what=jit&set=any')));
    }

    public function testTheSameWorkersSeeANewPublication(): void
    {
        SharedMemory::put('fpm-fresh', ['apple']);
        $before = self::$pool->askBothWorkers('what=keys&set=fpm-fresh');
        self::assertSame([[true, false], [true, false]], array_values($before));
        SharedMemory::put('fpm-fresh', ['apple', 'pear']);
        $this->assertBothWorkersReach([true, true], 'what=keys&set=fpm-fresh', array_keys($before));
    }

    public function testWorkersKeepASetAttachedFromRequestToRequest(): void
    {
        SharedMemory::put('fpm-kept', ['apple']);
        $workers = array_keys(self::$pool->askBothWorkers('what=keys&set=fpm-kept'));
        self::$pool->askBothWorkers('what=keys&set=fpm-kept');
        $calls = self::$pool->askBothWorkers('what=calls&set=fpm-kept');
        self::assertSame($workers, array_keys($calls));
        self::assertGreaterThanOrEqual(2, min($calls));
    }

    public function testBypassHoldsFromTheNextRequestOn(): void
    {
        SharedMemory::put('fpm-bypassed', ['apple']);
        self::assertSame(['Ready', 'Ready'], array_values(self::$pool->askBothWorkers('what=state&set=fpm-bypassed')));
        SharedMemory::bypass('fpm-bypassed');
        self::assertSame(['Bypassed', 'Bypassed'], array_values(self::$pool->askBothWorkers('what=state&set=fpm-bypassed')));
        self::assertSame([[true, true], [true, true]], array_values(self::$pool->askBothWorkers('what=keys&set=fpm-bypassed')));
        SharedMemory::bypass('fpm-bypassed', '--off');
        self::assertSame(['Ready', 'Ready'], array_values(self::$pool->askBothWorkers('what=state&set=fpm-bypassed')));
    }

    public function testExpiryShowsInRequestsOfFewLookups(): void
    {
        SharedMemory::put('fpm-expiring', ['apple'], ['--valid-for', '1h']);
        $clock = new Clock();
        $pool = new FpmPool(self::PAGE, clock: $clock);
        $before = $pool->askBothWorkers('what=state&set=fpm-expiring');
        self::assertSame(['Ready', 'Ready'], array_values($before));
        $clock->advance(7_200);
        $after = $pool->askBothWorkers('what=state&set=fpm-expiring');
        self::assertSame(['Expired', 'Expired'], array_values($after));
        self::assertSame(array_keys($before), array_keys($after), 'none was restarted');
        self::assertSame([[true, true], [true, true]], array_values($pool->askBothWorkers('what=keys&set=fpm-expiring')));
    }

    public function testAnUnknownSetIsLoggedOncePerWorkerAndFoundWhenItIsPublished(): void
    {
        for ($round = 0; $round < 10; ++$round) {
            $answers = self::$pool->askBothWorkers('what=keys&set=fpm-unknown');
            self::assertSame([[true, true], [true, true]], array_values($answers));
        }
        self::assertSame(2, substr_count(file_get_contents(self::$pool->log), 'set "fpm-unknown" is missing'));
        SharedMemory::put('fpm-unknown', ['apple']);
        $this->assertBothWorkersReach([true, false], 'what=keys&set=fpm-unknown', array_keys($answers));
        self::assertSame(2, substr_count(file_get_contents(self::$pool->log), 'set "fpm-unknown" is ready again'));
    }

    public function testAReloadLosesNothing(): void
    {
        SharedMemory::put('fpm-reloaded', ['apple']);
        $before = self::$pool->askBothWorkers('what=keys&set=fpm-reloaded');
        self::$pool->reload();
        $after = [];
        self::assertSoon(static function () use ($before, &$after): bool {
            try {
                $after = self::$pool->askBothWorkers('what=keys&set=fpm-reloaded');
            } catch (\Exception) {
                return false; // a connection that the old workers had
            }
            return array_intersect_key($before, $after) === [];
        });
        self::assertSame([[true, false], [true, false]], array_values($after));
    }

    /** @param int[] $workers */
    private function assertBothWorkersReach(mixed $expected, string $query, array $workers): void
    {
        $answers = [];
        self::assertSoon(static function () use ($expected, $query, &$answers): bool {
            $answers = self::$pool->askBothWorkers($query);
            return array_values($answers) === [$expected, $expected];
        }, static function () use (&$answers): string {
            return json_encode($answers);
        });
        self::assertSame($workers, array_keys($answers), 'none was restarted');
    }
}
