<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

/** PHP ends a script by a longjmp, which runs no destructors, after a fatal error. */
final class BailoutTest extends TestCase
{
    private const REQUESTS = 100;
    private const TEXT_BYTES = 50_000; // of the reason that phpinfo() prints

    #[Group('unsanitized')]
    public function testLeavesNothingInTheWorkerWhenItEndsPhpinfo(): void
    {
        $pool = new FpmPool(<<<'PHP'
            echo 'begun'; // with a status that no error changes
            flush();
            $end = static fn (): string => eval('class Twice { const IT = 1; const IT = 2; }');
            (new KeySieve\Set('nowhere'))->mayContain('apple');
            ob_start(static fn (string $text): string => str_contains($text, 'Set nowhere') ? $end() : '', 1);
            (new ReflectionExtension('keysieve'))->info();
            echo 'finished';
            PHP, [
            'pages' => ['pm.max_children' => '1', 'php_admin_value[keysieve.directory]' => null],
        ], settings: ['keysieve.directory' => '/' . str_repeat('d', self::TEXT_BYTES), 'display_errors' => '0']);
        $ask = static fn (int $number): bool => str_contains($pool->request((string) $number)->body(), 'finished');
        array_map($ask, range(1, 20));
        [$worker] = $pool->workers();
        $before = self::kibibytesOf($worker);
        self::assertNotContains(true, array_map($ask, range(1, self::REQUESTS)));
        self::assertSame([$worker], $pool->workers());
        self::assertLessThan(self::REQUESTS * self::TEXT_BYTES / 1_024 / 2, self::kibibytesOf($worker) - $before);
    }

    private static function kibibytesOf(int $process): int
    {
        self::assertSame(1, preg_match('/^RssAnon:\s+(\d+) kB$/m', file_get_contents("/proc/$process/status"), $found));
        return (int) $found[1];
    }
}
