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

    /** How PHP's own errors call what was given: by its value if that is true or false, from PHP 8.3 on. */
    protected static function given(mixed $value): string
    {
        return (is_bool($value) && PHP_VERSION_ID >= 80300 ? var_export($value, true) : get_debug_type($value)) . ' given';
    }

    /** How a TypeError says that one value is no key. PHP would make an int of a fraction, so the package takes floats. */
    protected static function noKey(mixed $value): string
    {
        return 'must be of type string|int' . (extension_loaded('keysieve') ? ', ' : '|float, ') . self::given($value);
    }

    /** @return list<mixed> what no caller with strict types may pass as a key */
    protected static function noKeys(): array
    {
        return [null, true, [], new \stdClass(), new \Exception('apple'), ...extension_loaded('keysieve') ? [1.0, 1.5] : []];
    }
}
