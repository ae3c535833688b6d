<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Map;
use KeySieve\Set;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** Maps: a value for each key, and the callable that answers what the map cannot know. */
final class MapTest extends TestCase
{
    private const TIERS = ['apple' => 3, '猫' => 0, 42 => 7, '007' => 65_535, ' ' => 1];

    public static function setUpBeforeClass(): void
    {
        SharedMemory::publish(SharedMemory::buildMap('tiers', self::TIERS));
        SharedMemory::put('plain', ['apple', 'pear'], ['--key-profile', 'raw']);
    }

    /** @return iterable<string, array{int, string[]}> bits of the values, and options of `keysieve build` */
    public static function widths(): iterable
    {
        foreach ([1, 7, 8, 16, 31, 32] as $bits) {
            yield "$bits bits" => [$bits, []];
        }
        yield 'small shards' => [16, ['--shard-size', '1KiB']];
        yield 'large shards' => [16, ['--shard-size', '8KiB', '--fpr', '0.001']];
        yield 'many columns' => [32, ['--fpr', '0.000000001']];
    }

    /** @param string[] $options */
    #[DataProvider('widths')]
    public function testEachKeyHasItsValue(int $bits, array $options): void
    {
        $values = [];
        foreach (self::keys(3_000) as $number => $key) {
            $values[$key] = $number === 0 ? (1 << $bits) - 1 : crc32($key) & (1 << $bits) - 1;
        }
        $name = "values-$bits-" . count($options);
        SharedMemory::publish(SharedMemory::buildMap($name, $values, $options));
        $map = new Map($name);
        self::assertSame(Availability::Ready, $map->availability());
        self::assertSame($bits, $map->info()->valueBits);
        self::assertSame($values, $map->getMany(array_keys($values), self::notAsked(...)));
        foreach (array_slice($values, 0, 300) as $key => $value) {
            self::assertSame($value, $map->get($key, self::notAsked(...)), $key);
        }
    }

    public function testAKeyIsTheSameInEveryForm(): void
    {
        $map = new Map('tiers');
        foreach (self::TIERS as $key => $value) {
            foreach ([$key, (string) $key] as $form) {
                self::assertSame($value, $map->get($form, self::notAsked(...)));
                self::assertSame([$key => $value], $map->getMany([$form], self::notAsked(...)));
            }
        }
    }

    public function testOtherKeysAreAbsent(): void
    {
        $map = new Map('tiers');
        foreach (['pear', 7, '', '42 '] as $key) {
            self::assertNull($map->get($key, self::notAsked(...)));
        }
        self::assertSame([], $map->getMany(self::keys(1_000, 'foreign'), self::notAsked(...)));
        self::assertSame([], $map->getMany([], self::notAsked(...)));
    }

    public function testAKnownAbsentKeyHasNoValue(): void
    {
        $absent = SharedMemory::list('absent', self::keys(5_000, 'absent'));
        $values = array_combine(self::keys(2_000), range(1, 2_000));
        SharedMemory::publish(SharedMemory::buildMap('exact', $values, ['--fpr', '0.3', '--known-absent', $absent]));
        $map = new Map('exact');
        self::assertSame([], $map->getMany(self::keys(5_000, 'absent'), self::notAsked(...)));
        self::assertSame($values, $map->getMany(self::keys(2_000), self::notAsked(...)));
        self::assertNull($map->get('absent 7', self::notAsked(...)));
    }

    public function testValuesAreUnderTheirKeysInTheOrderOfTheArgument(): void
    {
        $map = new Map('tiers');
        $expected = ['猫' => 0, 42 => 7, 'apple' => 3];
        foreach ([
            ['猫', 'foreign', '42', 'apple'],
            ['x' => '猫', 7 => 42, 'y' => 'apple', 'z' => 'foreign'],
            ['猫', 42, 'apple', '42', 'apple', '猫'],
            (static fn () => yield from ['猫', 'foreign', 42, 'apple'])(),
        ] as $keys) {
            $values = $map->getMany($keys, self::notAsked(...));
            self::assertSame($expected, $values);
            $values['more'] = 1;
            self::assertSame($expected + ['more' => 1], $values, 'it is an ordinary array');
        }
        foreach ([63, 64, 65, 1_000] as $count) {
            $keys = [...self::keys($count - 1, 'foreign'), 'apple'];
            self::assertSame(['apple' => 3], $map->getMany($keys, self::notAsked(...)));
        }
    }

    public function testASetAnswersForAMap(): void
    {
        $set = new Set('tiers');
        self::assertTrue($set->mayContain('apple'));
        self::assertSame(['apple', 3 => '007'], $set->candidates(['apple', 'pear', '42 ', '007']));
        self::assertSame([true, false], $set->mayContainMany(['猫', 'cat']));
        self::assertSame(16, $set->info()->valueBits);
    }

    public function testInfoOfASetThatIsNoMapSaysSo(): void
    {
        self::assertSame(0, (new Set('plain'))->info()->valueBits);
        self::assertNull((new Set('plain'))->info()->trouble);
        self::assertSame('built without values', (new Map('plain'))->info()->trouble);
        self::assertSame('built with key profile "raw", not "lower"', (new Map('plain', 'lower'))->info()->trouble);
        self::assertNull((new Map('tiers'))->info()->trouble);
    }

    public function testAnAddedKeyIsUnknown(): void
    {
        SharedMemory::publishWithLayer(SharedMemory::buildMap('growing', ['apple' => 3, 'pear' => 4, 42 => 5]));
        $map = new Map('growing');
        self::assertNull($map->get('plum', self::notAsked(...)));
        SharedMemory::addLive('growing', 'plum', '43', 'pear');

        $asked = [];
        $note = static function (mixed $key) use (&$asked): int {
            $asked[] = $key;
            return 9;
        };
        foreach (['plum', 43, '43', 'pear'] as $key) {
            self::assertSame(9, $map->get($key, $note));
        }
        self::assertSame(['plum', 43, '43', 'pear'], $asked);
        self::assertSame(3, $map->get('apple', self::notAsked(...)));
        self::assertNull($map->get('plum', static fn () => null));

        $lists = [];
        $values = $map->getMany(
            ['plum', 'apple', 'foreign', 43, 42, 'pear', '43', 'plum'],
            static function (array $keys) use (&$lists): array {
                $lists[] = $keys;
                return ['apple' => 99, 43 => 10, 'plum' => 11, 'pear' => null, 'foreign' => 12];
            },
        );
        self::assertSame([['plum', 43, 'pear']], $lists);
        self::assertSame(['plum' => 11, 'apple' => 3, 43 => 10, 42 => 5], $values);
        self::assertSame(['apple' => 3], $map->getMany(['plum', 'apple'], static fn () => []));
        self::assertTrue((new Set('growing'))->mayContain('plum'));
    }

    /** @return iterable<string, array{string, Availability, ?string}> a name, and how it is asked */
    public static function unavailable(): iterable
    {
        yield 'missing' => ['nowhere', Availability::Missing, null];
        yield 'another key profile' => ['tiers', Availability::Incompatible, 'lower'];
        yield 'no map' => ['plain', Availability::Incompatible, null];
    }

    #[DataProvider('unavailable')]
    public function testAKeyIsUnknownWhileTheMapIsUnavailable(string $name, Availability $availability, ?string $keyProfile): void
    {
        $map = new Map($name, $keyProfile);
        self::assertSame($availability, $map->availability());
        self::assertSame(5, $map->get('apple', static fn (string $key): int => strlen($key)));
        self::assertNull($map->get('apple', static fn () => null));
        $keys = ['apple', 42, 'pear', '猫', 'apple'];
        $count = static fn (array $keys): array => array_flip($keys);
        self::assertSame(['apple' => 0, 42 => 1, 'pear' => 2, '猫' => 3], $map->getMany($keys, $count));
        self::assertSame([], $map->getMany([], self::notAsked(...)));
    }

    public function testAMapNeverThrowsItselfAndSaysOnceThatASetIsNoMap(): void
    {
        $script = PhpScript::run(<<<'PHP'
            $map = new KeySieve\Map('plain');
            for ($call = 0; $call < 5_000; ++$call) {
                $map->get($call, fn () => null);
                (new KeySieve\Map('plain'))->getMany(['a', 'b'], fn () => []);
            }
            echo json_encode([$map->get('a', fn ($key) => 1), (new KeySieve\Map('nowhere'))->get('a', fn ($key) => 2)]);
            PHP, ['keysieve.on_unavailable' => 'throw']);
        self::assertSame('[1,2]', $script->output);
        self::assertSame(
            "keysieve: set \"plain\" was built without values: every such lookup is unknown\n"
                . 'keysieve: set "nowhere" is missing (' . SharedMemory::folder('nowhere')
                . ": No such file or directory): every lookup answers maybe\n",
            $script->errors,
        );
    }

    /** @return iterable<string, array{mixed, string}> what $ifUnknown returns, and how the message goes on */
    public static function wrongValues(): iterable
    {
        yield 'a string' => ['3', 'string returned'];
        yield 'a float' => [3.0, 'float returned'];
        yield 'a bool' => [false, 'bool returned'];
        yield 'an array' => [[3], 'array returned'];
        yield 'an object' => [new \ArrayObject(), 'ArrayObject returned'];
    }

    #[DataProvider('wrongValues')]
    public function testIfUnknownReturnsValuesOrNull(mixed $wrong, string $message): void
    {
        $map = new Map('nowhere');
        $call = '(): Argument #2 ($ifUnknown) must return ';
        self::assertThrows(\TypeError::class, "KeySieve\\Map::get{$call}?int, $message", static fn () => $map->get('a', static fn () => $wrong));
        foreach (['apple' => '"apple"', 42 => '42'] as $key => $shown) {
            $ask = static fn () => $map->getMany(['first', $key], static fn () => ['first' => 1, $key => $wrong]);
            self::assertThrows(\TypeError::class, "KeySieve\\Map::getMany{$call}an array of ?int, $message for key $shown", $ask);
        }
        if (!is_array($wrong)) {
            $ask = static fn () => $map->getMany(['a'], static fn () => $wrong);
            self::assertThrows(\TypeError::class, "KeySieve\\Map::getMany{$call}an array of ?int, $message", $ask);
        }
    }

    public function testWhatIfUnknownThrowsPassesThrough(): void
    {
        $map = new Map('nowhere');
        $throw = static fn () => throw new \DomainException('no database');
        foreach ([
            static fn () => $map->get('a', $throw),
            static fn () => $map->getMany(['a', 'b'], $throw),
        ] as $ask) {
            self::assertThrows(\DomainException::class, 'no database', $ask);
        }
    }

    public function testIfUnknownMayBeAnyCallable(): void
    {
        $map = new Map('nowhere');
        $object = new class () {
            public function __invoke(string $key): int
            {
                return strlen($key);
            }

            public function __call(string $name, array $arguments): int
            {
                return strlen($arguments[0]);
            }
        };
        foreach (['STRLEN', strlen(...), $object, [$object, 'own'], $object->own(...)] as $callable) {
            self::assertSame(3, $map->get('abc', $callable));
        }
        self::assertSame(2, $map->get(42, static fn (string $key): int => strlen($key)), 'PHP converts an int for it');
        self::assertSame(43, $map->get('42', static fn (int $key): int => $key + 1), 'and the reverse');
        $reference = static function &(string $key): int {
            static $value = 5;
            return $value;
        };
        self::assertSame(5, $map->get('a', $reference));
    }

    public function testIfUnknownMustBeThereAndCallable(): void
    {
        foreach (['get' => 'apple', 'getMany' => ['apple']] as $method => $argument) {
            self::assertThrows(\ArgumentCountError::class, 'exactly 2', static fn () => (new Map('tiers'))->$method($argument));
            foreach (['no_such_function', [self::class, 'nowhere'], null, 3, new \stdClass()] as $none) {
                $ask = static fn () => (new Map('tiers'))->$method($argument, $none);
                self::assertThrows(\TypeError::class, "KeySieve\\Map::$method(): Argument #2 (\$ifUnknown) must be ", $ask);
            }
        }
    }

    public function testIfUnknownMayAskTheSameMap(): void
    {
        SharedMemory::publishWithLayer(SharedMemory::buildMap('nested', ['apple' => 3]));
        SharedMemory::addLive('nested', 'plum', 'pear');
        $map = new Map('nested');
        $nested = static fn (string $key): ?int => $map->get('apple', self::notAsked(...)) + ($map->getMany(['apple'], self::notAsked(...))['apple']);
        self::assertSame(6, $map->get('plum', $nested));
        $all = $map->getMany(['plum', 'apple', 'pear'], static function (array $keys) use ($map, $nested): array {
            SharedMemory::publishWithLayer(SharedMemory::buildMap('nested', ['other' => 1]));
            self::assertSoon(static fn (): bool => $map->get('other', static fn () => 1) === 1);
            return array_map($nested = static fn () => 8, array_flip($keys));
        });
        self::assertSame(['plum' => 8, 'apple' => 3, 'pear' => 8], $all);
    }

    private static function notAsked(mixed $keys): never
    {
        throw new \LogicException('asked about ' . json_encode($keys));
    }
}
