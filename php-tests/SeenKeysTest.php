<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\SeenKeys;
use KeySieve\SeenSet;
use KeySieve\Testing\RememberedKeys;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\TestCase;
use KeySieve\UnavailableException;
use PHPUnit\Framework\Attributes\DataProvider;

/** What holds for all that says which keys are new: the extension's seen sets, those of the package, and the fake for tests. */
final class SeenKeysTest extends TestCase
{
    private ?SeenWindows $windows = null;

    protected function tearDown(): void
    {
        $this->windows = null;
    }

    /** @return iterable<string, array{class-string<SeenKeys>}> */
    public static function implementations(): iterable
    {
        yield 'the fake' => [RememberedKeys::class];
        if (extension_loaded('keysieve')) {
            yield 'a set' => [SeenSet::class];
        }
    }

    #[DataProvider('implementations')]
    public function testAKeyIsNewOnceAndThenSeen(string $class): void
    {
        $keys = $this->make($class);
        self::assertSame(Availability::Ready, $keys->availability());
        self::assertFalse($keys->mayContain('apple'));
        self::assertTrue($keys->addIfNew('apple'));
        for ($round = 0; $round < 3; ++$round) {
            self::assertFalse($keys->addIfNew('apple'));
            self::assertTrue($keys->mayContain('apple'));
        }
        self::assertFalse($keys->mayContain('pear'), 'asking adds nothing');
        self::assertTrue($keys->addIfNew('pear'));
    }

    #[DataProvider('implementations')]
    public function testAKeyIsTheSameInEveryForm(string $class): void
    {
        foreach ([
            'an int' => [-42, '-42'],
            'a string of digits' => ['43', 43],
            'the smallest int' => [PHP_INT_MIN, (string) PHP_INT_MIN],
            'an empty string' => ['', ''],
            'any bytes' => ["\0\xff", "\0\xff"],
            'a long string' => [str_repeat('long', 10_000), str_repeat('long', 10_000)],
        ] as $form => [$one, $other]) {
            $keys = $this->make($class);
            self::assertTrue($keys->addIfNew($one), $form);
            self::assertTrue($keys->mayContain($other), $form);
            self::assertFalse($keys->addIfNew($other), $form);
            self::assertSame([false], $keys->addManyIfNew([$other]), $form);
        }
    }

    #[DataProvider('implementations')]
    public function testABatchKeepsArrayKeysAndOrder(string $class): void
    {
        $set = $this->make($class);
        self::assertSame([], $set->addManyIfNew([]));
        self::assertSame([true, true], $set->addManyIfNew(['apple', 'pear']));
        $keys = ['z' => 'plum', 7 => 'apple', 'a' => 'fig', -3 => 8];
        self::assertSame(['z' => true, 7 => false, 'a' => true, -3 => true], $set->addManyIfNew($keys));
        self::assertSame(array_fill_keys(['z', 7, 'a', -3], false), $set->addManyIfNew($keys));
        $withHoles = ['one', 'two', 'three', 'four'];
        unset($withHoles[1]);
        self::assertSame([0 => true, 2 => true, 3 => true], $set->addManyIfNew($withHoles));
        $variable = 'by reference';
        self::assertSame([true, false], $set->addManyIfNew([&$variable, 'by reference']));
    }

    #[DataProvider('implementations')]
    public function testAKeyThatOccursTwiceInABatchIsNewOnce(string $class): void
    {
        $set = $this->make($class);
        self::assertSame([true, true, false, false, true], $set->addManyIfNew(['apple', 'pear', 'apple', 'pear', 9]));
        $keys = self::keys(3_000);
        self::assertSame([...array_fill(0, 3_000, true), ...array_fill(0, 3_000, false)], $set->addManyIfNew([...$keys, ...$keys]));
    }

    #[DataProvider('implementations')]
    public function testABatchWithAnElementThatIsNoKeyAddsNothing(string $class): void
    {
        $set = $this->make($class);
        $message = $class . '::addManyIfNew(): Argument #1 ($keys) must be an array of string|int, float given at index 200';
        self::assertThrows(\TypeError::class, $message, static fn () => $set->addManyIfNew([...self::keys(200), 1.5]));
        self::assertSame(array_fill(0, 200, true), $set->addManyIfNew(self::keys(200)));
    }

    public function testTheFakeBeginsWithTheKeysOfItsTest(): void
    {
        $seen = new RememberedKeys(['apple', 7]);
        self::assertSame([false, false, true], $seen->addManyIfNew(['apple', '7', 'pear']));
        self::assertTrue((new RememberedKeys())->addIfNew('apple'), 'another object knows nothing of it');
    }

    public function testTheFakeCanBeUnavailable(): void
    {
        $seen = new RememberedKeys(availability: Availability::Missing);
        self::assertSame(Availability::Missing, $seen->availability());
        foreach ([static fn () => $seen->addIfNew('a'), static fn () => $seen->addManyIfNew(['a']), static fn () => $seen->mayContain('a')] as $call) {
            self::assertThrows(UnavailableException::class, 'the seen set is missing', $call);
        }
    }

    public function testASetOfWhichNothingIsKnownThrowsAndIsLoggedOnce(): void
    {
        $script = PhpScript::run(<<<'PHP'
            $set = new KeySieve\SeenSet('nowhere');
            echo json_encode([$set->availability(), $set->info(), $set->addManyIfNew([])]);
            foreach ([fn () => $set->addIfNew('a'), fn () => $set->addManyIfNew([7]), fn () => $set->mayContain('a')] as $call) {
                try {
                    $call();
                } catch (UnavailableException $exception) {
                    echo " {$exception->set} {$exception->availability->name}";
                }
            }
            echo "\n{$exception->getMessage()}";
            PHP);
        [$answers, $message] = explode("\n", $script->output);
        self::assertSame('["missing",null,[]]' . str_repeat(' nowhere Missing', 3), $answers);
        self::assertSame("keysieve: $message: every call throws\n", $script->errors);
    }

    /** With one window, for a set. */
    private function make(string $class): SeenKeys
    {
        if ($class === RememberedKeys::class) {
            return new RememberedKeys();
        }
        $this->windows = null; // before the next one is opened, whose memory it would remove
        $this->windows = SeenWindows::open('implementation');
        return new SeenSet('implementation');
    }
}
