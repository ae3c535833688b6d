<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** An attached single lookup makes no system call, reads no clock and allocates nothing, from PHP's memory or by malloc. */
final class HotPathTest extends TestCase
{
    /** The lookups that are watched: fewer than 4,096, at each of which a reader looks at the clock and its files. */
    private const LOOKUPS = <<<'PHP'
        $set = new Set('hot');
        $added = new Key('pear');
        $absent = str_repeat('absent ', 10);
        $lookUp = function () use ($set, $added, $absent) {
            for ($call = 0; $call < 900; ++$call) {
                $set->mayContain('apple');
                $set->mayContain($absent);
                $set->mayContain($call);
                KeySieve\may_contain('hot', $added);
            }
        };
        $lookUp();
        for ($call = 0; $call < 500; ++$call) {
            $set->mayContain('to the next look at the clock');
        }
        PHP;

    public static function setUpBeforeClass(): void
    {
        SharedMemory::putWithLayer('hot', ['apple']);
        SharedMemory::addLive('hot', 'pear');
    }

    public function testMakesNoSystemCall(): void
    {
        $trace = tempnam(sys_get_temp_dir(), 'keysieve-trace-');
        try {
            $script = PhpScript::run(
                self::LOOKUPS . <<<'PHP'

                    file_exists('/marker/before');
                    $lookUp();
                    file_exists('/marker/after');
                    echo json_encode(KeySieve\stats()['hot']);
                    PHP,
                wrapper: ['strace', '-f', '-o', $trace],
            );
            self::assertSame('', $script->errors);
            self::assertStringContainsString('"calls":7700,', $script->output);
            $between = self::between(file_get_contents($trace), '/marker/before', '/marker/after');
            self::assertSame([], $between);
            self::assertNotSame([], self::between(file_get_contents($trace), '"control"', '/marker/before'));
        } finally {
            unlink($trace);
        }
    }

    public function testAllocatesNothingAndReadsNoClock(): void
    {
        $counter = self::buildCounter();
        $script = PhpScript::run(
            self::LOOKUPS . <<<'PHP'

                $measure = function (callable $work) {
                    getenv('KEYSIEVE_COUNT_START');
                    memory_reset_peak_usage();
                    $usage = memory_get_usage();
                    $peak = memory_get_peak_usage();
                    $work();
                    $peak = memory_get_peak_usage() - $peak;
                    $usage = memory_get_usage() - $usage;
                    getenv('KEYSIEVE_COUNT_STOP');
                    return [$usage, $peak];
                };
                $measure(fn () => 1);
                echo json_encode($measure($lookUp));
                PHP,
            environment: ['LD_PRELOAD' => $counter, 'USE_ZEND_ALLOC' => '1'],
        );
        self::assertSame('[0,0]', $script->output);
        self::assertSame("0 0\n0 0\n", $script->errors, 'allocations by malloc and its like, looks at the clock');
    }

    public function testTheCounterCounts(): void
    {
        $script = PhpScript::run(
            "getenv('KEYSIEVE_COUNT_START'); (new Set('a-new-one'))->mayContain(''); getenv('KEYSIEVE_COUNT_STOP');",
            environment: ['LD_PRELOAD' => self::buildCounter()],
            settings: ['error_log' => '/dev/null'],
        );
        [$allocations, $clockLooks] = explode(' ', trim($script->errors));
        self::assertGreaterThan(0, (int) $allocations);
        self::assertGreaterThan(0, (int) $clockLooks);
    }

    /** @return string[] the lines between the first one with $begin and the next one with $end */
    private static function between(string $text, string $begin, string $end): array
    {
        $lines = explode("\n", $text);
        $from = self::indexOf($lines, $begin, 0);
        return array_slice($lines, $from + 1, self::indexOf($lines, $end, $from) - $from - 1);
    }

    /** @param string[] $lines */
    private static function indexOf(array $lines, string $part, int $from): int
    {
        foreach (array_slice($lines, $from, preserve_keys: true) as $index => $line) {
            if (str_contains($line, $part)) {
                return $index;
            }
        }
        self::fail("no line has $part");
    }

    private static function buildCounter(): string
    {
        $library = SharedMemory::directory() . '/calls.so';
        if (!file_exists($library)) {
            Program::output(['cc', '-shared', '-fPIC', '-O1', '-o', $library, __DIR__ . '/Support/calls.c']);
        }
        return $library;
    }
}
