<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** The base of all tests: keys by the thousand, and assertions about errors and about what takes a moment. */
abstract class TestCase extends \PHPUnit\Framework\TestCase
{
    /** For what gives files away or becomes another user. */
    public static function needsRoot(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('only root can');
        }
    }

    /** @return string[] "$name 1" and so on */
    public static function keys(int $count, string $name = 'key'): array
    {
        $numbers = $count === 0 ? [] : range(1, $count);
        return array_map(static fn (int $number): string => "$name $number", $numbers);
    }

    /** @return iterable<string, array{string}> every kind of the registry, as the program knows it */
    public static function kinds(): iterable
    {
        foreach (SharedMemory::kinds() as $kind) {
            yield $kind => [$kind];
        }
    }

    /**
     * @param callable(): bool $condition is asked again and again
     * @param string|\Closure  $why       what to show if it never holds, or what gives it then
     */
    protected static function assertSoon(callable $condition, string|\Closure $why = ''): void
    {
        $holds = Deadline::reaches($condition);
        self::assertTrue($holds, $why instanceof \Closure ? ($holds ? '' : $why()) : $why);
    }

    /** @param class-string<\Throwable> $class */
    protected static function assertThrows(string $class, string $message, callable $call): void
    {
        try {
            $call();
        } catch (\Throwable $thrown) {
            self::assertInstanceOf($class, $thrown, (string) $thrown);
            self::assertStringContainsString($message, $thrown->getMessage());
            return;
        }
        self::fail("no $class");
    }
}
