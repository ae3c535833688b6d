<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * PHP ends a script by a longjmp, which runs no destructors, after a fatal error. A worker that serves many such requests keeps nothing
 * of them.
 */
final class BailoutTest extends TestCase
{
    private const REQUESTS = 100;
    private const TEXT_BYTES = 50_000; // of what a request that leaks would leave at least

    /** Defines $end, which ends the script, and $endIn, by which the cycle collector does it within a function of that name. */
    private const PAGE = <<<'PHP'
        echo 'begun';
        flush();
        $end = static fn (): string => eval('class Twice { const IT = 1; const IT = 2; }');
        final class Garbage
        {
            private self $itself;

            public function __construct(private readonly Closure $end, private readonly string $function)
            {
                $this->itself = $this;
            }

            public function __destruct()
            {
                if (in_array($this->function, array_column(debug_backtrace(), 'function'), true)) {
                    ($this->end)();
                }
            }
        }
        $endIn = static function (string $function, Closure $call) use ($end): void {
            gc_collect_cycles();
            new Garbage($end, $function);
            $room = 1 + (int) $_SERVER['QUERY_STRING'] % 4;
            while (gc_status()['roots'] < gc_status()['threshold'] - $room) {
                $kept[] = $array = [$room];
                unset($array);
            }
            $call();
        };
        PHP;

    /** @return iterable<string, array{string}> the code of a page, of which one request of four at least ends within the call */
    public static function calls(): iterable
    {
        yield 'phpinfo()' => [<<<'PHP'
            (new KeySieve\Set('nowhere'))->mayContain('apple');
            ob_start(static fn (string $text): string => str_contains($text, 'Set nowhere') ? $end() : '', 1);
            (new ReflectionExtension('keysieve'))->info();
            PHP];
        yield 'info()' => ["\$endIn('info', (new KeySieve\\Set('bailing', str_repeat('p', " . self::TEXT_BYTES . ')))->info(...));'];
    }

    #[DataProvider('calls')]
    #[Group('unsanitized')]
    public function testLeavesNothingInTheWorker(string $code): void
    {
        SharedMemory::put('bailing', ['apple'], ['--key-profile', 'raw']);
        $directory = str_contains($code, 'bailing') ? SharedMemory::directory() : '/' . str_repeat('d', self::TEXT_BYTES);
        $pool = new FpmPool(self::PAGE . "\n$code\necho ' finished';", ['pages' => [
            'pm.max_children' => '1',
            'php_admin_value[keysieve.directory]' => null,
        ]], settings: ['keysieve.directory' => $directory, 'display_errors' => '0']);
        $endings = static function (int $requests) use ($pool): int {
            $bodies = array_map(static fn (int $number): string => $pool->request((string) $number)->body(), range(1, $requests));
            return count(array_filter($bodies, static fn (string $body): bool => !str_contains($body, 'finished')));
        };
        $endings(20);
        [$worker] = $pool->workers();
        $before = self::kibibytesOf($worker);
        $ends = $endings(self::REQUESTS);
        self::assertSame([$worker], $pool->workers());
        self::assertGreaterThanOrEqual(self::REQUESTS / 4, $ends);
        self::assertLessThan($ends * self::TEXT_BYTES / 1_024 / 2, self::kibibytesOf($worker) - $before, "after $ends endings");
    }

    private static function kibibytesOf(int $process): int
    {
        self::assertSame(1, preg_match('/^RssAnon:\s+(\d+) kB$/m', file_get_contents("/proc/$process/status"), $found));
        return (int) $found[1];
    }
}
