<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\InvalidNameException;
use KeySieve\LocalFilter;
use KeySieve\Map;
use KeySieve\SeenSet;
use KeySieve\Set;
use KeySieve\Tests\Support\CoerciveCalls;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

use function KeySieve\candidate_sets;
use function KeySieve\may_contain;
use function KeySieve\stats;

/** What may be passed, and what is said about the rest. */
final class ArgumentsTest extends TestCase
{
    private const RULE = '1 to 64 characters a-z, 0-9, _ or -, beginning with a letter or digit';

    public static function setUpBeforeClass(): void
    {
        SharedMemory::put('arguments', ['apple', '1', '0', '1.5', '', '1000000000000000', (string) PHP_INT_MIN, (string) 2 ** 63], ['-0']);
    }

    /** @return iterable<string, array{string}> */
    public static function badNames(): iterable
    {
        foreach (['', '.', '..', '-x', '_x', 'A', 'tags/x', "tags\0", "tags\n", ' tags', '猫', str_repeat('a', 65)] as $name) {
            yield json_encode($name) => [$name];
        }
    }

    #[DataProvider('badNames')]
    public function testRefusesBadSetNames(string $name): void
    {
        foreach ([
            static fn () => new Set($name),
            static fn () => new Map($name),
            static fn () => new SeenSet($name),
            static fn () => may_contain($name, 'apple'),
            static fn () => candidate_sets(['arguments', $name], 'apple'),
        ] as $call) {
            self::assertThrows(InvalidNameException::class, self::RULE, $call);
            self::assertThrows(\ValueError::class, '"' . strtok("$name\0", "\0") . '" given', $call);
        }
    }

    public function testAcceptsTheLongestSetName(): void
    {
        self::assertTrue((new Set(str_repeat('a', 64)))->mayContain('anything'));
    }

    /** @return iterable<string, array{array<mixed>, string}> */
    public static function badElements(): iterable
    {
        yield 'null' => [['apple', null], 'null given at index 1'];
        yield 'bool' => [[true], 'bool given at index 0'];
        yield 'float' => [['a' => 'apple', 'b' => 1.0], 'float given at index "b"'];
        yield 'array' => [[-5 => []], 'array given at index -5'];
        yield 'object' => [[new \stdClass()], 'stdClass given at index 0'];
        yield 'stringable' => [['apple', new \Exception('apple')], 'Exception given at index 1'];
        yield 'fraction' => [['apple', 1.5], 'float given at index 1'];
        yield 'behind many good ones' => [[...array_fill(0, 500, 'apple'), null], 'null given at index 500'];
        $null = null;
        yield 'reference' => [[&$null], 'null given at index 0'];
    }

    /** @param array<mixed> $keys */
    #[DataProvider('badElements')]
    public function testNamesTheIndexOfAnElementThatIsNoKey(array $keys, string $message): void
    {
        foreach (['Set::mayContainMany', 'Set::candidates', 'Map::getMany', 'SeenSet::addManyIfNew'] as $call) {
            [$class, $method] = explode('::', "KeySieve\\$call");
            $more = $method === 'getMany' ? [static fn () => []] : [];
            $calls = [
                static fn () => (new $class('arguments'))->$method($keys, ...$more),
                static fn () => (new $class('arguments'))->$method((static fn () => yield from $keys)(), ...$more),
                static fn () => CoerciveCalls::to([new $class('arguments'), $method], $keys, ...$more), // PHP converts no elements
            ];
            foreach ($calls as $each) {
                self::assertThrows(\TypeError::class, "KeySieve\\$call(): Argument #1 (\$keys) must be an array of string|int, $message", $each);
            }
        }
    }

    public function testNoKeyOfABatchIsAskedIfOneElementIsNone(): void
    {
        $counts = static fn (): array => stats()['arguments'] ?? [];
        $before = $counts();
        self::assertThrows(\TypeError::class, 'null given at index 500', static fn () => (new Set('arguments'))->candidates([...array_fill(0, 500, 'apple'), null]));
        self::assertSame($before, $counts());
    }

    public function testRefusesWhatCannotBeAKey(): void
    {
        foreach ([['apple'], new \stdClass(), static fn () => 'apple'] as $key) {
            self::assertThrows(\TypeError::class, self::noKey($key), static fn () => CoerciveCalls::mayContain('arguments', $key));
            self::assertThrows(\TypeError::class, self::noKey($key), static fn () => CoerciveCalls::to(may_contain(...), 'arguments', $key));
        }
    }

    public function testStrictTypesLeaveNothingToCoerce(): void
    {
        foreach ([null, true, [], new \stdClass(), new \Exception('apple'), ...extension_loaded('keysieve') ? [1.0, 1.5] : []] as $key) {
            foreach ([
                'Set::mayContain' => static fn () => (new Set('arguments'))->mayContain($key),
                'may_contain' => static fn () => may_contain('arguments', $key),
                'candidate_sets' => static fn () => candidate_sets(['arguments'], $key),
                'Map::get' => static fn () => (new Map('arguments'))->get($key, static fn () => null),
                'SeenSet::addIfNew' => static fn () => (new SeenSet('arguments'))->addIfNew($key),
                'SeenSet::mayContain' => static fn () => (new SeenSet('arguments'))->mayContain($key),
                'LocalFilter::add' => static fn () => (new LocalFilter(1))->add($key),
                'LocalFilter::addIfNew' => static fn () => (new LocalFilter(1))->addIfNew($key),
                'LocalFilter::mayContain' => static fn () => (new LocalFilter(1))->mayContain($key),
            ] as $name => $call) {
                self::assertThrows(\TypeError::class, "KeySieve\\$name(): Argument #", $call);
                self::assertThrows(\TypeError::class, '($key) ' . self::noKey($key), $call);
            }
        }
    }

    public function testStrictTypesHoldForTheCallsOfTheirFileAlone(): void
    {
        $set = new Set('arguments');
        self::assertSame([true, false], array_map($set->mayContain(...), [1.5, 2.5]), 'PHP itself calls');
        self::assertSame([true, false], eval('return [$set->mayContain(1.5), $set->mayContain(2.5)];'));
    }

    public function testAFractionHasTheDigitsThatTheSettingSays(): void
    {
        $before = ini_get('precision');
        foreach ([5 => '0.33333', 17 => '0.33333333333333331', -1 => '0.3333333333333333'] as $precision => $digits) {
            SharedMemory::put("digits$precision", [$digits], ['--fpr', '0.000001']);
            ini_set('precision', (string) $precision);
            $isFound = CoerciveCalls::mayContain("digits$precision", 1 / 3);
            ini_set('precision', $before);
            self::assertTrue($isFound, $digits);
        }
    }

    /** @return iterable<string, array{mixed, bool}> what may be passed, and whether the set has it as a key */
    public static function coerced(): iterable
    {
        yield 'a fraction' => [1.5, true];
        yield 'an integral float' => [1.0, true];
        yield 'a zero with a sign' => [-0.0, true];
        yield 'an integral float that PHP writes with an exponent' => [1e15, true];
        yield 'the least int as a float' => [(float) PHP_INT_MIN, true];
        yield 'a float above all ints' => [2.0 ** 63, true];
        yield 'infinity' => [INF, false];
        yield 'no number' => [NAN, false];
        yield 'a large float' => [1e30, false];
        yield 'another float' => [2.5, false];
        yield 'true' => [true, true];
        yield 'false' => [false, true];
        yield 'a Stringable' => [new \SplFileInfo('apple'), true];
        yield 'another Stringable' => [new \SplFileInfo('pear'), false];
    }

    /** As PHP does for string|int, but a fraction is no int. "@": PHP 8.5 and newer warns of NAN. */
    #[DataProvider('coerced')]
    public function testCoercesASingleKey(mixed $key, bool $isKey): void
    {
        self::assertSame($isKey, @CoerciveCalls::mayContain('arguments', $key));
    }

    #[Group('extension')]
    public function testNullIsTheEmptyStringAndDeprecated(): void
    {
        $messages = [];
        $handler = static function (int $level, string $message) use (&$messages): bool {
            $messages[] = $message;
            return $level === E_DEPRECATED;
        };
        self::assertTrue(CoerciveCalls::mayContainNull('arguments', $handler));
        self::assertCount(1, $messages);
        self::assertStringContainsString('Passing null to parameter #1 ($key)', $messages[0]);
    }

    #[Group('extension')]
    public function testTheCallersVariableIsNotCoerced(): void
    {
        foreach ([1.5, true, 1.0] as $value) {
            $variable = $value;
            CoerciveCalls::mayContain('arguments', $variable);
            self::assertSame($value, $variable);
        }
    }

    public function testResultsDoNotShareTheCallersVariables(): void
    {
        [$key, $set] = ['apple', 'arguments'];
        $list = (new Set('arguments'))->candidates([&$key]);
        $map = (new Set('arguments'))->candidates(['a' => &$key, 'b' => 'pear']);
        $sets = candidate_sets([&$set], 'apple');
        [$list[0], $map['a'], $sets[0]] = ['changed', 'changed', 'changed'];
        self::assertSame(['apple', 'arguments'], [$key, $set]);
    }

    public function testSaysThatOneOfSeveralNamesIsBad(): void
    {
        $message = 'Argument #1 ($sets) must be an array of set names, each ' . self::RULE . ', "BAD" given';
        self::assertThrows(InvalidNameException::class, $message, static fn () => candidate_sets(['arguments', 'BAD'], 'apple'));
        $message = 'Argument #1 ($sets) must be an array of strings, int given';
        self::assertThrows(\TypeError::class, $message, static fn () => candidate_sets(['arguments', 1], 'apple'));
    }

    #[Group('extension')]
    public function testWrongNumbersOfArgumentsAreErrors(): void
    {
        foreach ([
            static fn () => new Set(),
            static fn () => (new Set('arguments'))->mayContain(),
            static fn () => (new Set('arguments'))->mayContain('a', 'b'),
            static fn () => may_contain('arguments'),
        ] as $call) {
            self::assertThrows(\ArgumentCountError::class, 'expects', $call);
        }
    }

    /** How a TypeError says that one value is no key. PHP would make an int of a fraction, so the package takes floats. */
    private static function noKey(mixed $value): string
    {
        $given = is_bool($value) && PHP_VERSION_ID >= 80300 ? var_export($value, true) : get_debug_type($value);
        return 'must be of type string|int' . (extension_loaded('keysieve') ? ', ' : '|float, ') . "$given given";
    }
}
