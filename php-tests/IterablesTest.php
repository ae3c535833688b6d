<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Map;
use KeySieve\Membership;
use KeySieve\SeenSet;
use KeySieve\Set;
use KeySieve\Testing\ListedKeys;
use KeySieve\Testing\RememberedKeys;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** Batches of keys that come from iterators: generators, results of queries, collections of frameworks. */
final class IterablesTest extends TestCase
{
    public static function setUpBeforeClass(): void
    {
        SharedMemory::put('iterated', ['apple', 'pear', '7']);
    }

    /** @return iterable<string, array{\Closure(array<mixed>): iterable<mixed>}> what makes an iterable of an array */
    public static function iterables(): iterable
    {
        yield 'an array' => [static fn (array $keys): array => $keys];
        yield 'a generator' => [static fn (array $keys): \Generator => yield from $keys];
        yield 'an iterator' => [static fn (array $keys): \Iterator => new \ArrayIterator($keys)];
        yield 'an iterator of PHP code' => [static fn (array $keys): \Iterator => new class (new \ArrayIterator($keys)) extends \IteratorIterator {
        }];
        yield 'a collection' => [static fn (array $keys): \Traversable => new class ($keys) extends \ArrayObject { // as of Laravel or Doctrine
            public function getIterator(): \Iterator
            {
                return new \ArrayIterator($this->getArrayCopy());
            }
        }];
        yield 'an ArrayObject' => [static fn (array $keys): \Traversable => new \ArrayObject($keys)];
    }

    /** @return Membership[] */
    private static function memberships(): array
    {
        return [new Set('iterated'), new ListedKeys(['apple', 'pear', '7'])];
    }

    public function testAKeyMayBeListedAsAnInteger(): void
    {
        SharedMemory::put('numbered', ['42', '007', '-1']);
        foreach ([new Set('numbered'), new ListedKeys([42, '007', -1])] as $set) {
            $keys = [42, '42', '007', '-1', 7, '042', '', 43];
            self::assertSame([42, '42', '007', '-1'], $set->candidates($keys));
            self::assertTrue($set->mayContain(42));
            self::assertFalse($set->mayContain(7));
        }
    }

    #[DataProvider('iterables')]
    public function testArrayKeysAndOrderAreThoseOfTheIterator(\Closure $of): void
    {
        foreach (self::memberships() as $set) {
            $keys = ['b' => 'apple', 5 => 'stone', 'a' => 7, -1 => 'pear'];
            $answers = $set->mayContainMany($of($keys));
            self::assertSame(['b' => true, 5 => false, 'a' => true, -1 => true], $answers);
            $answers[] = true;
            self::assertSame(6, array_key_last($answers), 'it is an ordinary array');
            self::assertSame(array_diff_key($keys, [5 => 1]), $set->candidates($of($keys)));
            self::assertSame([0 => 'pear', 2 => 'apple'], $set->candidates($of(['pear', 'stone', 'apple'])));
            self::assertSame([], $set->candidates($of([])));
            self::assertSame([], $set->mayContainMany($of([])));
            self::assertCount(1_000, $set->mayContainMany($of(self::keys(1_000))));
        }
        $seen = new RememberedKeys();
        self::assertSame(['x' => true, 'y' => false], $seen->addManyIfNew($of(['x' => 'apple', 'y' => 'apple'])));
    }

    /** If the second took the place of the first, that one would never be asked: its row would seem to be absent. */
    public function testAnArrayKeyThatAnIteratorGivesTwiceIsRefused(): void
    {
        $list = static function (): \Generator {
            yield from ['apple'];
            yield from ['pear'];
        };
        $map = static function (): \Generator {
            yield 'a' => 'apple';
            yield 'a' => 'apple';
        };
        $digits = static function (): \Generator {
            yield 7 => 'apple';
            yield '7' => 'pear';
        };
        [$seen, $valued] = [new SeenSet('nowhere'), new Map('nowhere')];
        foreach ([[$list, '0'], [$map, '"a"'], [$digits, '7']] as [$keys, $shown]) {
            $message = "Argument #1 (\$keys) must not give the array key $shown twice";
            foreach (self::memberships() as $set) {
                self::assertThrows(\ValueError::class, $set::class . "::candidates(): $message", static fn () => $set->candidates($keys()));
                self::assertThrows(\ValueError::class, $set::class . "::mayContainMany(): $message", static fn () => $set->mayContainMany($keys()));
            }
            self::assertThrows(\ValueError::class, "KeySieve\\SeenSet::addManyIfNew(): $message", static fn () => $seen->addManyIfNew($keys()));
            self::assertThrows(\ValueError::class, "KeySieve\\Map::getMany(): $message", static fn () => $valued->getMany($keys(), static fn () => []));
        }
        self::assertSame(['apple', 'pear'], (new Set('iterated'))->candidates(iterator_to_array($list(), false)));
    }

    public function testAnArrayKeyThatNoArrayCanHaveIsRefused(): void
    {
        foreach ([[1.5, 'float'], [null, 'null'], [true, 'bool'], [new \stdClass(), 'stdClass'], [[], 'array']] as [$key, $type]) {
            $keys = static fn (): \Generator => yield $key => 'apple';
            foreach (self::memberships() as $set) {
                $message = "Argument #1 (\$keys) must have array keys of type string|int, $type given";
                self::assertThrows(\TypeError::class, $message, static fn () => $set->candidates($keys()));
            }
        }
    }

    public function testWhatAnIteratorThrowsPassesAndLeavesNothing(): void
    {
        $keys = static function (int $count): \Generator {
            foreach (self::keys($count) as $key) {
                yield $key;
            }
            throw new \RuntimeException('the connection is lost');
        };
        $set = new Set('iterated');
        $seen = new RememberedKeys();
        $before = 0;
        for ($round = 0; $round < 50; ++$round) {
            foreach ([0, 1, 500] as $count) {
                self::assertThrows(\RuntimeException::class, 'the connection is lost', static fn () => $set->candidates($keys($count)));
                self::assertThrows(\RuntimeException::class, 'the connection is lost', static fn () => $seen->addManyIfNew($keys($count)));
            }
            $before = $round === 10 ? memory_get_usage() : $before;
        }
        self::assertLessThan(100_000, memory_get_usage() - $before);
        self::assertFalse($seen->mayContain('key 1'), 'nothing was added');
        self::assertFalse(\KeySieve\may_contain('iterated', 'stone'));
    }

    public function testAnIteratorMayAskTheSameSet(): void
    {
        $set = new Set('iterated');
        $keys = static function () use ($set): \Generator {
            foreach (['apple', 'stone', 'pear'] as $key) {
                yield $key => $set->mayContain($key) ? $key : "no $key";
            }
        };
        self::assertSame(['apple' => 'apple', 'pear' => 'pear'], $set->candidates($keys()));
    }

    public function testResultsDoNotShareTheIteratorsVariables(): void
    {
        $keys = ['apple', 'pear'];
        $byReference = static function & () use (&$keys): \Generator {
            foreach ($keys as $index => &$key) {
                yield $index => $key;
            }
        };
        $result = (new Set('iterated'))->candidates($byReference());
        $result[0] = 'changed';
        self::assertSame(['apple', 'pear'], $keys);
    }

    public function testWhatIsNotIterableIsRefused(): void
    {
        foreach (['apple', null, new \stdClass()] as $other) {
            self::assertThrows(\TypeError::class, 'Argument #1 ($keys) must be of type ', static fn () => (new Set('iterated'))->candidates($other));
        }
    }
}
