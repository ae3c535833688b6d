<?php

declare(strict_types=1);

namespace KeySieve\Tests;

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
        self::assertBothAnswer(true, 'jit', 'any');
    }

    public function testTheSameWorkersSeeANewPublication(): void
    {
        SharedMemory::put('fpm-fresh', ['apple']);
        $workers = self::assertBothAnswer([true, false], 'keys', 'fpm-fresh');
        SharedMemory::put('fpm-fresh', ['apple', 'pear']);
        self::assertSoon(static fn (): bool => self::answers('keys', 'fpm-fresh') === [[true, true], [true, true]]);
        self::assertSame($workers, self::assertBothAnswer([true, true], 'keys', 'fpm-fresh'), 'none was restarted');
    }

    public function testAnUnknownSetIsLoggedOncePerWorkerAndFoundWhenItIsPublished(): void
    {
        for ($round = 0; $round < 10; ++$round) {
            $workers = self::assertBothAnswer([true, true], 'keys', 'fpm-unknown');
        }
        self::assertSame(2, substr_count(file_get_contents(self::$pool->log), 'set "fpm-unknown" is missing'));
        SharedMemory::put('fpm-unknown', ['apple']);
        self::assertSoon(static fn (): bool => self::answers('keys', 'fpm-unknown') === [[true, false], [true, false]]);
        self::assertSame($workers, self::assertBothAnswer([true, false], 'keys', 'fpm-unknown'), 'none was restarted');
        self::assertSame(2, substr_count(file_get_contents(self::$pool->log), 'set "fpm-unknown" is ready again'));
    }

    public function testAReloadLosesNothing(): void
    {
        SharedMemory::put('fpm-reloaded', ['apple']);
        $before = self::assertBothAnswer([true, false], 'keys', 'fpm-reloaded');
        self::$pool->reload();
        self::assertSoon(static function () use ($before): bool {
            try {
                $answers = self::$pool->askBothWorkers('what=keys&set=fpm-reloaded');
            } catch (\RuntimeException | \JsonException) {
                return false; // a connection that the old workers had
            }
            self::assertSame([[true, false]], array_unique(array_values($answers), SORT_REGULAR));
            return array_intersect($before, array_keys($answers)) === [];
        });
    }

    /** @return int[] the processes of the workers */
    private static function assertBothAnswer(mixed $expected, string $what, string $set): array
    {
        $answers = self::$pool->askBothWorkers("what=$what&set=$set");
        self::assertSame([$expected, $expected], array_values($answers));
        return array_keys($answers);
    }

    /** @return mixed[] */
    private static function answers(string $what, string $set): array
    {
        return array_values(self::$pool->askBothWorkers("what=$what&set=$set"));
    }
}
