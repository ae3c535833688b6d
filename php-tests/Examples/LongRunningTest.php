<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** One worker process that lives through new publications, bypass and idle times. */
final class LongRunningTest extends TestCase
{
    private RedisServer $redis;
    private Examples $examples;
    /** @var resource */
    private $worker;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket]);
        $this->examples->setUp('encyclopedia', 'shop');
        $this->start();
    }

    protected function tearDown(): void
    {
        $this->kill();
        unset($this->examples, $this->redis);
    }

    public function testTheSameProcessSeesANewPublicationAndEndsWhenItIsTold(): void
    {
        $pid = $this->pid();
        self::assertSame([['猫', 2], [null, 0]], $this->links('猫', '犬'));
        $this->insertDog();
        self::assertSame([null, 0], $this->links('犬')[0], 'absent as of its generation');
        $this->examples->publish('encyclopedia');
        self::assertTrue(Deadline::reaches(fn (): bool => $this->links('犬') === [['犬', 0]]));
        self::assertSame($pid, $this->pid());

        posix_kill($pid, SIGTERM);
        self::assertTrue(Deadline::reaches(fn (): bool => !proc_get_status($this->worker)['running']));
        self::assertMatchesRegularExpression('/^ends: {"encyclopedia":{"calls":\d+/m', file_get_contents($this->log()));
    }

    public function testABypassHoldsAtOnceAndEndsAtOnce(): void
    {
        self::assertSame([[null, 0]], $this->links('犬'));
        $this->insertDog();
        SharedMemory::bypass('encyclopedia');
        self::assertSame([['犬', 0]], $this->links('犬'));
        SharedMemory::bypass('encyclopedia', '--off');
        self::assertSame([[null, 0]], $this->links('犬'));
        self::assertMatchesRegularExpression('/is bypassed.*is ready again/s', file_get_contents($this->log()));
    }

    public function testAnIdleWorkerLetsGoOfWhatWasReplaced(): void
    {
        $this->links('猫');
        $before = $this->mapped();
        self::assertCount(1, $before);
        $this->examples->publish('encyclopedia');
        self::assertTrue(Deadline::reaches(fn (): bool => count($this->mapped()) === 1 && $this->mapped() !== $before));
    }

    public function testMemoryDoesNotGrowWithJobs(): void
    {
        $this->work(3_000); // the allocator gets what it needs
        $before = $this->residentKibibytes();
        $this->work(3_000);
        self::assertLessThan($before + 1_500, $this->residentKibibytes(), 'half a KiB of each job is kept');
    }

    public function testAJobInWhichTheWorkerDiesIsDoneByTheNext(): void
    {
        $this->query('ALTER TABLE articles RENAME TO away');
        $this->push('{"id": 7, "tags": ["猫"]}');
        self::assertTrue(Deadline::reaches(fn (): bool => !proc_get_status($this->worker)['running']));
        self::assertStringContainsString('no such table: articles', file_get_contents($this->log()));
        $this->query('ALTER TABLE away RENAME TO articles');
        $this->start();
        self::assertSame([['猫', 2]], $this->nextLinks());
        self::assertSame('', $this->redis->command('KEYS', '*'), 'nothing is left behind');
    }

    public function testAPageStaysWhenRedisRefusesItsLinks(): void
    {
        $this->redis->command('ACL', 'SETUSER', 'default', '-rpush');
        $this->redis->command('LPUSH', 'pages', '{"id": 7, "tags": ["猫"]}');
        self::assertTrue(Deadline::reaches(fn (): bool => !proc_get_status($this->worker)['running']));
        self::assertStringContainsString('NOPERM', file_get_contents($this->log()));
        $this->redis->command('ACL', 'SETUSER', 'default', '+rpush');
        $this->start();
        self::assertSame([['猫', 2]], $this->nextLinks());
    }

    public function testWhatIsNoPageIsPutAsideAndTheWorkGoesOn(): void
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
        $this->worker = $this->examples->start('long_running/worker.php', $this->log(), '1');
    }

    private function kill(): void
    {
        proc_terminate($this->worker, SIGKILL);
        proc_close($this->worker);
    }

    private function push(string ...$pages): void
    {
        $this->redis->command('RPUSH', 'pages', ...$pages);
    }

    /** Has the worker do that many pages. */
    private function work(int $pages): void
    {
        $page = json_encode(['id' => 7, 'tags' => ['猫', '犬', '2024']], JSON_THROW_ON_ERROR);
        $this->push(...array_fill(0, $pages, $page));
        $isDone = fn (): bool => $this->redis->command('LLEN', 'links') === (string) $pages;
        self::assertTrue(Deadline::reaches($isDone), file_get_contents($this->log()));
        $this->redis->command('DEL', 'links');
    }

    private function residentKibibytes(): int
    {
        preg_match('/^VmRSS:\s+(\d+) kB$/m', file_get_contents("/proc/{$this->pid()}/status"), $found);
        return (int) $found[1];
    }

    private function insertDog(): void
    {
        $this->query("INSERT INTO articles VALUES ('犬', '犬')");
    }

    private function query(string $sql): void
    {
        $sql = var_export($sql, true);
        $this->examples->code("require FOLDER . '/Database.php'; (new App\Database())->rows($sql);");
    }

    /** @return array{?string, int}[] article and offers of each tag, as the worker says */
    private function links(string ...$tags): array
    {
        $this->push(json_encode(['id' => 7, 'tags' => $tags], JSON_THROW_ON_ERROR));
        return $this->nextLinks();
    }

    /** @return array{?string, int}[] */
    private function nextLinks(): array
    {
        $answer = '';
        self::assertTrue(Deadline::reaches(function () use (&$answer): bool {
            return ($answer = $this->redis->command('LPOP', 'links')) !== '';
        }), file_get_contents($this->log()));
        $links = json_decode($answer, true, flags: JSON_THROW_ON_ERROR)['tags'];
        return array_map(static fn (array $link): array => [$link['article'], $link['offers']], $links);
    }

    /** @return string[] the publications of the set encyclopedia that the worker has mapped */
    private function mapped(): array
    {
        $folder = preg_quote(SharedMemory::folder('encyclopedia'), '~');
        preg_match_all("~$folder/\w+\.ks~", file_get_contents("/proc/{$this->pid()}/maps"), $found);
        return array_values(array_unique($found[0]));
    }

    private function pid(): int
    {
        return proc_get_status($this->worker)['pid'];
    }

    private function log(): string
    {
        return "{$this->examples->folder}/worker.log";
    }
}
