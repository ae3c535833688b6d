<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Build\AllowsSuspectKeys;
use KeySieve\Build\CannotWrite;
use KeySieve\Build\SetSource;
use KeySieve\Build\SourceBuild;
use KeySieve\Build\WrongKeys;
use KeySieve\Keys\DomainKey;
use KeySieve\Keys\KeyedSet;
use KeySieve\Keys\KeyFunction;
use KeySieve\Testing\ListedKeys;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use KeySieve\UnavailableException;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** Sets that an application defines in code: one key function for the source and for lookups. The package starts the programs itself. */
#[Group('unsanitized')]
final class SourceBuildTest extends TestCase
{
    private Folder $folder;
    private string $store;
    private string $path;
    /** @var list<string> */
    private array $said = [];

    protected function setUp(): void
    {
        $this->folder = new Folder('sources');
        $this->store = "lmdb:$this->folder/store";
        $this->path = (string) getenv('PATH');
        putenv('PATH=' . getenv('KEYSIEVE_BIN_DIR') . ":$this->path");
    }

    protected function tearDown(): void
    {
        putenv("PATH=$this->path");
    }

    public function testLookupsUseTheKeyFunctionOfTheSource(): void
    {
        self::assertTrue($this->build(['Apple ', ' PEAR']));
        self::assertSame(['words: 2 keys, in ' . $this->folder], $this->said);
        SharedMemory::publish("$this->folder/words.ks");
        $set = new KeyedSet('words', LowerCase::class);
        $raw = ['a' => 'apple', 'b' => 'PEAR ', 'c' => 'plum', 'd' => ' '];
        self::assertSame(['a' => true, 'b' => true, 'c' => false, 'd' => false], $set->mayContainMany($raw));
        self::assertSame(['a' => 'apple', 'b' => 'PEAR '], $set->candidates(new \ArrayIterator($raw)));
        self::assertSame([true, false, false], array_map($set->mayContain(...), ['APPLE', 'plum', ' ']));
        $missing = new KeyedSet('missing', LowerCase::class);
        self::assertSame([true, ['d' => true]], [$missing->mayContain(' '), $missing->mayContainMany(['d' => ' '])], 'nothing is absent from it');
        $throwing = new KeyedSet('missing', LowerCase::class, true);
        self::assertThrows(UnavailableException::class, '', static fn () => $throwing->mayContain(' '));
        self::assertThrows(UnavailableException::class, '', static fn () => $throwing->mayContainMany([' ']));
        foreach ([null, 1.5, ['apple']] as $key) {
            self::assertThrows(\TypeError::class, 'at index 0', static fn () => $set->mayContainMany([$key]));
        }
        $twice = new \AppendIterator();
        array_map($twice->append(...), [new \ArrayIterator(['apple']), new \ArrayIterator(['plum'])]);
        self::assertThrows(\ValueError::class, 'twice', static fn () => $set->candidates($twice));
    }

    public function testAFakeOfASourceAnswersAsItsSetWouldWithoutAFile(): void
    {
        $fake = ListedKeys::of(new ListedSource('words', ['Apple ', ' PEAR']));
        self::assertSame(['a' => true, 'b' => true, 'c' => false, 'd' => false], $fake->mayContainMany(['a' => 'apple', 'b' => 'PEAR ', 'c' => 'plum', 'd' => ' ']));
        self::assertSame([1 => 'APPLE'], $fake->candidates(['plum', 'APPLE']));
        self::assertThrows(WrongKeys::class, 'no key', static fn () => ListedKeys::of(new ListedSource('words', ['apple', ' '])));
    }

    /** @return iterable<string, array{list<string>}> */
    public static function sourcesThatFail(): iterable
    {
        yield 'throws after its first value' => [['apple', 'gone']];
        yield 'has a value that is no key' => [['apple', 'pear', 'plum', ' ']];
        yield 'has lost most of its keys' => [['apple']];
        yield 'has a NULL' => [['apple', 'pear', 'plum', null]];
        yield 'is empty' => [[]];
        yield 'has a key that is too long' => [['apple', 'pear', 'plum', str_repeat('a', 1 << 21)]];
    }

    /** @param list<string> $values */
    #[DataProvider('sourcesThatFail')]
    public function testReplacesNothingIfASourceFails(array $values): void
    {
        foreach ([(string) $this->folder, $this->store, 'directory:' . SharedMemory::directory()] as $to) {
            self::assertTrue($this->build(['apple', 'pear', 'plum'], $to), implode("\n", $this->said));
            self::assertFalse($this->build($values, $to));
        }
        self::assertSame([3, 3], [$this->inFolder()['key_count'], $this->inStore()['key_count']]);
        \KeySieve\begin_request();
        self::assertSame([true, true, true], (new KeyedSet('words', LowerCase::class))->mayContainMany(['apple', 'pear', 'plum']));
        self::assertFalse((new KeyedSet('words', LowerCase::class))->mayContain('peach'));
    }

    public function testTakesSuspectKeysFromASourceThatAllowsThem(): void
    {
        $quoted = ['"apple"', '"pear"', '"plum"'];
        foreach ([[(string) $this->folder, $quoted, LowerCase::class], [$this->store, $quoted, LowerCase::class], [$this->store, ['com.ar'], DomainKey::class]] as [$to, $values, $keys]) {
            foreach ([false => new ListedSource('words', $values, $keys), true => new SuspectSource('words', $values, $keys)] as $isAllowed => $source) {
                self::assertSame((bool) $isAllowed, (new SourceBuild(maxShrink: 1))->all([$source], [], $to, static fn () => null), "$values[0] $isAllowed");
            }
        }
    }

    public function testASetIsAsOfTheMomentBeforeItsKeysWereAskedFor(): void
    {
        foreach ([(string) $this->folder => $this->inFolder(...), $this->store => $this->inStore(...)] as $to => $inspect) {
            self::assertTrue($this->build(['a second later', 'apple'], $to));
            self::assertLessThanOrEqual(ListedSource::$asked, $inspect()['as_of']);
        }
    }

    public function testARunThatBeganEarlierAndEndsLaterReplacesNothing(): void
    {
        foreach ([(string) $this->folder, 'directory:' . SharedMemory::directory()] as $to) {
            $slow = new ListedSource('overtaken', ['a second later', fn () => (new SourceBuild())->all([new ListedSource('overtaken', ['plum'])], [], $to, static fn () => null)]);
            self::assertFalse((new SourceBuild())->all([$slow], [], $to, $this->say(...)));
            self::assertStringContainsString('later moment', array_pop($this->said));
        }
        SharedMemory::publish("$this->folder/overtaken.ks");
        \KeySieve\begin_request();
        self::assertTrue((new KeyedSet('overtaken', LowerCase::class))->mayContain('plum'));
    }

    public function testASetMayBecomeEmptyIfThatIsSaid(): void
    {
        foreach ([(string) $this->folder, $this->store, 'directory:' . SharedMemory::directory()] as $to) {
            foreach ([[['apple'], 0.2, true], [[], 0.2, false], [[], 1.0, true]] as [$values, $shrink, $isBuilt]) {
                $this->said = [];
                self::assertSame($isBuilt, (new SourceBuild($shrink))->all([new ListedSource('emptied', $values)], [], $to, $this->say(...)));
                self::assertSame(!$isBuilt, str_contains($this->said[0], '--max-shrink'), $this->said[0]);
            }
        }
        self::assertThrows(\ValueError::class, '"abc"', static fn () => SourceBuild::shrink('abc'));
    }

    public function testASourceThatCannotBeMadeDoesNotHoldUpTheOthers(): void
    {
        $sources = ['Broken' => static fn () => throw new \RuntimeException('no database'), 'Words' => static fn () => new ListedSource('words', ['apple'])];
        $sources['Blanks'] = static fn () => new ListedSource('blanks', ['', 'apple', ' ']);
        self::assertFalse((new SourceBuild())->all($sources, [], (string) $this->folder, $this->say(...)));
        $trouble = static fn (string $name, string $why): string => "$name: is not built, and what was there stays: $why";
        self::assertSame([
            $trouble('Broken', 'no database'), "words: 1 keys, in $this->folder", $trouble('blanks', 'no keys by ' . LowerCase::class . ': "", " "'),
        ], $this->said);
    }

    public function testADamagedPageOrAMissingProgramIsSaid(): void
    {
        $directory = SharedMemory::directory();
        mkdir("$directory/odd/control", recursive: true);
        self::assertThrows(CannotWrite::class, 'control', static fn () => (new SourceBuild())->publish(new ListedSource('odd', ['apple']), $directory));
        self::assertThrows(CannotWrite::class, 'not installed', fn () => (new SourceBuild())->toStore(new ListedSource('words', ['apple']), $this->store, 'no-such-keysieve'));
    }

    public function testAListForAStoreHasNoKeyWithANul(): void
    {
        self::assertTrue($this->build(["a\0b"]));
        self::assertFalse($this->build(["a\0b"], $this->store));
    }

    public function testSaysNothingOfAStoresPassword(): void
    {
        $this->build(['apple'], 'redis://:secret@127.0.0.1:1');
        self::assertStringNotContainsString('secret', implode($this->said));
    }

    public function testBuildsTheNamedSetsAndSaysWhichItDoesNotKnow(): void
    {
        $sources = [new ListedSource('words', ['apple']), new ListedSource('others', ['apple'])];
        self::assertTrue((new SourceBuild())->all($sources, ['others'], (string) $this->folder, static fn () => null));
        self::assertSame(['others.ks'], array_values(array_diff(scandir((string) $this->folder), ['.', '..'])));
        self::assertFalse((new SourceBuild())->all($sources, ['words', 'unknown'], (string) $this->folder, static fn () => null));
        self::assertFileExists("$this->folder/words.ks");
    }

    public function testAStoreGetsWhatAFolderGets(): void
    {
        self::assertTrue($this->build(['Apple', 'pear']));
        self::assertTrue($this->build(['Apple', 'pear'], $this->store), implode("\n", $this->said));
        foreach (['key_count' => 2, 'key_profile' => 'lower-v1', 'target_fpr' => 0.001] as $field => $value) {
            self::assertSame([$value, $value], [$this->inFolder()[$field], $this->inStore()[$field]]);
        }
    }

    /** @return array<string, mixed> */
    private function inFolder(): array
    {
        return json_decode(Program::keysieve('inspect', '--json', "$this->folder/words.ks"), true);
    }

    /** @return array<string, mixed> */
    private function inStore(): array
    {
        Program::keysieve('pull', 'words', $this->store, '-o', "$this->folder/pulled.ks");
        return json_decode(Program::keysieve('inspect', '--json', "$this->folder/pulled.ks"), true);
    }

    /** @param list<string> $values */
    private function build(array $values, ?string $to = null): bool
    {
        return (new SourceBuild())->all([new ListedSource('words', $values)], [], $to ?? (string) $this->folder, $this->say(...));
    }

    private function say(string $line): void
    {
        $this->said[] = $line;
    }
}

class ListedSource implements SetSource
{
    /** When "a second later" was asked for. */
    public static int $asked = 0;

    /**
     * @param list<string|\Closure> $values "gone" throws
     * @param class-string<KeyFunction> $keys
     */
    public function __construct(private readonly string $name, private readonly array $values, private readonly string $keys = LowerCase::class)
    {
    }

    public function name(): string
    {
        return $this->name;
    }

    public function fpr(): float
    {
        return 0.001;
    }

    public function keyFunction(): string
    {
        return $this->keys;
    }

    public function values(): iterable
    {
        foreach ($this->values as $value) {
            if ($value === 'a second later') {
                for (self::$asked = time(); time() === self::$asked;) {
                    usleep(1000);
                }
            }
            $value = $value instanceof \Closure ? ($value() ? 'pear' : 'gone') : $value;
            yield $value === 'gone' ? throw new \RuntimeException('the database has gone away') : $value;
        }
    }
}

final class SuspectSource extends ListedSource implements AllowsSuspectKeys
{
}

final class LowerCase implements KeyFunction
{
    public static function profile(): string
    {
        return 'lower-v1';
    }

    public static function of(string $raw): ?string
    {
        $key = strtolower(trim($raw));
        return $key === '' ? null : $key;
    }
}
