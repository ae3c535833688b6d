<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\LocalFilter;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

/** The filter that one process fills for itself. */
final class LocalFilterTest extends TestCase
{
    public function testAKeyIsNewOnce(): void
    {
        $filter = new LocalFilter(100);
        self::assertFalse($filter->mayContain('apple'));
        self::assertTrue($filter->addIfNew('apple'));
        self::assertFalse($filter->addIfNew('apple'));
        self::assertTrue($filter->mayContain('apple'));
        $filter->add('pear');
        $filter->add('pear');
        self::assertFalse($filter->addIfNew('pear'));
        self::assertFalse($filter->mayContain('plum'), 'asking adds nothing');
        self::assertTrue($filter->addIfNew('plum'));
        self::assertTrue((new LocalFilter(1))->addIfNew('apple'), 'each object has its own keys');
    }

    public function testAKeyIsTheSameInEveryForm(): void
    {
        $filter = new LocalFilter(100);
        foreach ([[-42, '-42'], ['43', 43], [PHP_INT_MIN, (string) PHP_INT_MIN], ['', '']] as [$first, $again]) {
            self::assertTrue($filter->addIfNew($first));
            self::assertFalse($filter->addIfNew($again));
        }
        self::assertTrue($filter->addIfNew('042'));
        self::assertTrue($filter->addIfNew("apple\0"));
    }

    /** At most 10 of 100,000 on average; more than 40 happen once in 10^13 runs. */
    public function testForgetsNothingAndIsSeldomWrongWhenItHoldsAllThatWerePlanned(): void
    {
        $filter = new LocalFilter(100_000);
        $wrong = 0;
        for ($i = 0; $i < 100_000; ++$i) {
            $wrong += $filter->addIfNew("key $i") ? 0 : 1;
        }
        for ($i = 0; $i < 100_000; ++$i) {
            $wrong += $filter->mayContain("other $i") ? 1 : 0;
            self::assertTrue($filter->mayContain("key $i"));
        }
        self::assertLessThan(40, $wrong);
    }

    public function testForgetsNothingWhenItIsFarTooFull(): void
    {
        $filter = new LocalFilter(1);
        for ($i = 0; $i < 5_000; ++$i) {
            $filter->add($i);
            self::assertTrue($filter->mayContain($i));
        }
        for ($i = 0; $i < 5_000; ++$i) {
            self::assertFalse($filter->addIfNew($i));
        }
    }

    public function testRefusesNumbersOutOfRange(): void
    {
        foreach ([0, -1, 10_000_001, PHP_INT_MAX] as $keys) {
            $expected = "KeySieve\LocalFilter::__construct(): Argument #1 (\$keys) must be between 1 and 10000000, $keys given";
            self::assertThrows(\ValueError::class, $expected, static fn () => new LocalFilter($keys));
        }
    }

    public function testIsConstructedOnce(): void
    {
        $filter = new LocalFilter(1);
        self::assertThrows(\Error::class, 'KeySieve\LocalFilter is constructed already', static fn () => $filter->__construct(2));
    }

    public function testIsNeitherCopiedNorSerialized(): void
    {
        $filter = new LocalFilter(1);
        self::assertThrows(\Error::class, 'LocalFilter', static fn () => clone $filter);
        self::assertThrows(\Exception::class, "Serialization of 'KeySieve\LocalFilter' is not allowed", static fn () => serialize($filter));
    }

    #[Group('extension')]
    #[Group('unsanitized')]
    public function testItsMemoryIsTakenAtOnceAndGivenBack(): void
    {
        [$before, $with, $filled, $after] = [0, 0, 0, 0];
        $before = memory_get_usage();
        $filter = new LocalFilter(1_000_000);
        $with = memory_get_usage();
        for ($i = 0; $i < 1_000; ++$i) {
            $filter->add($i);
        }
        $filled = memory_get_usage();
        unset($filter);
        $after = memory_get_usage();
        self::assertEqualsWithDelta(3_000_000, $with - $before, 100_000, '24 bits per key');
        self::assertSame($with, $filled);
        self::assertSame($before, $after);
        $script = PhpScript::run('new KeySieve\LocalFilter(10_000_000);', ['memory_limit' => '16M']);
        self::assertStringContainsString('Allowed memory size of 16777216 bytes exhausted', $script->output . $script->errors);
    }
}
