<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Set;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Nginx;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\VerifyingPage;
use PHPUnit\Framework\TestCase;

/**
 * nginx and php-fpm under wrk, while a key list is built, pushed and published every second and keys are added all the time.
 *
 * @group load
 * @group soak
 */
final class FpmLoadTest extends TestCase
{
    private const SET = 'loaded';
    private const KEYS = 20_000;
    private const KEYS_PER_ADD = 5;
    /** All workers have changed over by then to the publication that keysieved has added to: four times their jitter. */
    private const CHANGED_OVER_AFTER = 2.0;

    /** Generous: a machine that is stopped for minutes is no failure. */
    private const TIMEOUT = '300s';
    /** wrk is ended before: when pages have asked for added keys, however long that takes. */
    private const LONGEST = '10h';

    private Loader $loader;
    private string $folder;
    private int $added = 0;
    /** @var array<int, float> number of keys added, by the moment from which all workers see them */
    private array $soonSeen = [];
    private int $seen = 0;

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/keysieve-load-' . bin2hex(random_bytes(6));
        mkdir($this->folder, 0755);
        $this->loader = new Loader([self::SET]);
    }

    protected function tearDown(): void
    {
        unset($this->loader);
        array_map('unlink', glob("{$this->folder}/*"));
        rmdir($this->folder);
    }

    public function testEveryAnswerIsRightWhileSetsAreRefreshedAndKeysAreAdded(): void
    {
        $this->tellPages();
        $this->refresh();
        self::assertTrue(Deadline::reaches(static fn (): bool => (new Set(self::SET))->info() !== null), $this->loader->log());
        $page = VerifyingPage::script(self::SET, self::KEYS, "{$this->folder}/added");
        $pool = new FpmPool($page, ['pages' => ['pm.max_children' => '4']]);
        $nginx = new Nginx($pool);

        $seconds = Soak::seconds(5);
        [$wrk, $output] = $this->startWrk($nginx->url);
        $refreshes = 0;
        for ($end = microtime(true) + $seconds; microtime(true) < $end || $this->seen === 0;) {
            $nextRefresh = microtime(true) + 1;
            $this->refresh();
            ++$refreshes;
            do {
                $this->add();
                usleep(20_000);
            } while (microtime(true) < min($nextRefresh, $end));
        }
        proc_terminate($wrk, SIGINT); // it ends, and reports
        $report = stream_get_contents($output);
        proc_close($wrk);

        $all = $report . $nginx->log() . file_get_contents($pool->log);
        self::assertStringNotContainsString('Non-2xx', $report, $all);
        self::assertStringNotContainsString('Socket errors', $report, $all);
        self::assertSame('', file_get_contents($pool->log));
        self::assertMatchesRegularExpression('/\b[1-9]\d* requests in/', $report);
        $generation = 0;
        self::assertTrue(Deadline::reaches(static function () use ($refreshes, &$generation): bool {
            $generation = (new Set(self::SET))->info()->generation;
            return $generation > $refreshes / 2;
        }), "generation $generation of $refreshes");
        preg_match('/99%\s+(\S+)[^$]*?(\d+) requests in/', $report, $figures);
        Soak::report(sprintf(
            'php-fpm under wrk for %d s: %s requests, %d generations, %d keys added, p99 %s: none failed, none wrong',
            $seconds,
            number_format((int) $figures[2]),
            $generation,
            $this->added,
            $figures[1],
        ));
    }

    /** @return array{resource, resource} the process and its output */
    private function startWrk(string $url): array
    {
        $process = proc_open(
            ['wrk', '-t', '1', '-c', '8', '-d', self::LONGEST, '--timeout', self::TIMEOUT, '--latency', $url],
            [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR],
            $pipes,
        );
        return [$process, $pipes[1]];
    }

    /** As a batch would make it. */
    private function refresh(): void
    {
        $keys = VerifyingPage::keys(self::KEYS);
        for ($number = 1; $number <= $this->added; ++$number) {
            $keys[] = "added $number";
        }
        $this->loader->push(SharedMemory::build(self::SET, $keys, ['--store', $this->loader->store]));
    }

    private function add(): void
    {
        $keys = [];
        for ($i = 0; $i < self::KEYS_PER_ADD; ++$i) {
            $keys[] = 'added ' . ++$this->added;
        }
        $this->loader->add(self::SET, ...$keys);
        $set = new Set(self::SET);
        self::assertTrue(
            Deadline::reaches(static fn (): bool => $set->candidates($keys) === $keys),
            $this->loader->log(),
        );
        $this->soonSeen[$this->added] = microtime(true) + self::CHANGED_OVER_AFTER;
        foreach ($this->soonSeen as $number => $from) {
            if ($from <= microtime(true)) {
                $this->seen = $number;
                unset($this->soonSeen[$number]);
            }
        }
        $this->tellPages();
    }

    private function tellPages(): void
    {
        file_put_contents("{$this->folder}/added.new", (string) $this->seen);
        rename("{$this->folder}/added.new", "{$this->folder}/added");
    }
}
