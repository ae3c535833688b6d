<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** One worker process that lives through idle times, and what becomes of a job that it cannot do. RefreshTest has new publications. */
final class LongRunningTest extends TestCase
{
    private RedisServer $redis;
    private Examples $examples;
    private Background $worker;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket]);
        $this->examples->setUp('encyclopedia', 'shop');
        $this->start();
    }

    protected function tearDown(): void
    {
        $this->worker->end(SIGKILL);
        unset($this->worker, $this->examples, $this->redis);
    }

    public function testAnIdleWorkerLetsGoOfWhatWasReplaced(): void
    {
        $this->push('{"id": 7, "tags": ["猫"]}');
        self::assertSame([['猫', 2]], $this->nextLinks());
        $before = $this->mapped();
        self::assertCount(1, $before);
        $this->examples->publish('encyclopedia');
        self::assertSoon(fn (): bool => count($this->mapped()) === 1 && $this->mapped() !== $before);
    }

    public function testAJobInWhichTheWorkerDiesIsDoneByTheNext(): void
    {
        $this->examples->query('ALTER TABLE articles RENAME TO away');
        $this->push('{"id": 7, "tags": ["猫"]}');
        self::assertSoon(fn (): bool => !$this->worker->isRunning());
        self::assertStringContainsString('no such table: articles', $this->worker->output());
        $this->examples->query('ALTER TABLE away RENAME TO articles');
        $this->start();
        self::assertSame([['猫', 2]], $this->nextLinks());
        self::assertSame('', $this->redis->command('KEYS', '*'), 'nothing is left behind');
    }

    public function testAnInvalidPageIsSetAsideAndTheWorkGoesOn(): void
    {
        $this->push('{"id": 7, "tags": [', '0', '{"id": 7}', '{"id": 7, "tags": [[]]}', '{"id": 7, "tags": ["猫"]}');
        self::assertSame([['猫', 2]], $this->nextLinks());
        self::assertSame(
            ['{"id": 7, "tags": [', '0', '{"id": 7}', '{"id": 7, "tags": [[]]}'],
            explode("\n", $this->redis->command('LRANGE', 'pages:refused', '0', '-1')),
        );
    }

    private function start(): void
    {
        $this->worker = $this->examples->start('long_running/worker.php', '1');
    }

    private function push(string ...$pages): void
    {
        $this->redis->command('RPUSH', 'pages', ...$pages);
    }

    /** @return array{?string, int}[] article and offers of each tag, as the worker says */
    private function nextLinks(): array
    {
        $answer = '';
        self::assertSoon(function () use (&$answer): bool {
            return ($answer = $this->redis->command('LPOP', 'links')) !== '';
        }, $this->worker->output(...));
        $links = json_decode($answer, true, flags: JSON_THROW_ON_ERROR)['tags'];
        return array_map(static fn (array $link): array => [$link['article'], $link['offers']], $links);
    }

    /** @return string[] the publications of the set encyclopedia that the worker has mapped */
    private function mapped(): array
    {
        $folder = preg_quote(SharedMemory::folder('encyclopedia'), '~');
        preg_match_all("~$folder/\w+\.ks~", file_get_contents("/proc/{$this->worker->pid()}/maps"), $found);
        return array_values(array_unique($found[0]));
    }
}
