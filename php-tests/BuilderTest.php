<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Build\Builder;
use KeySieve\Build\CannotWrite;
use KeySieve\Build\WrongKeys;
use KeySieve\InvalidNameException;
use KeySieve\Set;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** Sets that PHP builds, as extension and package read them. */
final class BuilderTest extends TestCase
{
    /** What differs between two builds of one list: built_at, build_id, and the checksum of the header. */
    private const OWN = [88 => 8, 104 => 16, 4088 => 8];

    private Folder $folder;

    protected function setUp(): void
    {
        $this->folder = new Folder('builder');
    }

    /** @return iterable<string, array{int, float, int}> */
    public static function lists(): iterable
    {
        foreach ([0, 1, 2, 999, 20_000, 100_000] as $count) {
            foreach ([1024, 2048, 4096, 8192] as $shardBytes) {
                yield "$count keys, shards of $shardBytes bytes" => [$count, 0.01, $shardBytes];
            }
        }
        foreach ([0.5, 0.1, 0.001, 0.00001, 0.000001] as $fpr) {
            yield "an FPR of $fpr" => [30_000, $fpr, 4096];
        }
    }

    #[DataProvider('lists')]
    public function testGivesTheBytesOfKeysieveBuild(int $count, float $fpr, int $shardBytes): void
    {
        $keys = self::randomKeys($count);
        $builder = new Builder('words', $fpr, 'profile-v1', asOf: 1_700_000_000, validFor: 86_400, shardBytes: $shardBytes, allowSuspectKeys: true);
        $builder->add($keys)->add(array_slice($keys, 0, 10));
        $builder->write("$this->folder/php.ks");
        file_put_contents("$this->folder/keys", implode('', array_map(static fn (string $key): string => "$key\0", [...$keys, ...array_slice($keys, 0, 10)])));
        Program::keysieve(
            ...['build', '--set', 'words', '--fpr', (string) $fpr, '--key-profile', 'profile-v1', '--as-of', '@1700000000', '--valid-for', '1d'],
            ...['--shard-size', (string) $shardBytes, '--like', "$this->folder/php.ks", '--resize', '--min-keys', '0', '--max-shrink', '1'],
            ...['-0', "$this->folder/keys", '-o', "$this->folder/program.ks"],
        );
        self::assertSame(bin2hex($this->shared('program.ks')), bin2hex($this->shared('php.ks')));
    }

    public function testAsksTheSourceForEachKeyOnceAndSaysHowManyThereWere(): void
    {
        $asked = 0;
        $said = [];
        $builder = new Builder('words', progress: static function (int $given) use (&$said): void {
            $said[] = $given;
        });
        $builder->add((static function () use (&$asked): iterable {
            for (; $asked < 150_000; ++$asked) {
                yield $asked;
            }
        })());
        self::assertSame([150_000, [65_536, 131_072]], [$asked, $said]);
    }

    /** @return iterable<string, array{list<string|int>}> */
    public static function listsThatAreNone(): iterable
    {
        yield 'a message of the program that wrote it' => [['apple', 'PHP Fatal error:  Uncaught PDOException in list.php on line 3']];
        yield 'a page' => [['<!doctype html>', '<title>502</title>']];
        yield 'JSON' => [['{"name": "apple"}', '{"name": "pear"}']];
        yield 'a table' => [['+-------+', '| name  |', '+-------+']];
        yield 'an underlined heading' => [['name ', '-----', 'apple']];
        yield 'quotes' => [['"apple"', '"pear"', '"plum"']];
        yield 'CSV that quotes some fields' => [['"apple, red"', 'pear', '"plum, blue"', '"cherry, sour"']];
        yield 'columns' => [["1\tapple", "2\tpear", "3\tplum"]];
        yield 'spaces' => [[' apple', 'pear']];
        yield 'Latin-1' => [["caf\xE9", 'pear']];
        yield 'question marks' => [['???', 'pear']];
        yield 'a NULL' => [['\N', 'pear']];
        yield 'a byte order mark' => [["\xEF\xBB\xBFapple", 'pear']];
        yield 'a message at the end of a long list' => [[...self::keys(20_000), 'mysql: [Warning] Lost connection']];
    }

    /** @param list<string|int> $keys */
    #[DataProvider('listsThatAreNone')]
    public function testRefusesAListThatLooksLikeSomethingElse(array $keys): void
    {
        $builder = (new Builder('words'))->add($keys);
        self::assertThrows(WrongKeys::class, '', static fn () => $builder->write('words.ks'));
        file_put_contents("$this->folder/keys", implode("\n", $keys) . "\n");
        $program = Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'build', '--set', 'words', "$this->folder/keys", '-o', "$this->folder/words.ks"]);
        self::assertSame(65, $program->status, "keysieve build takes it: $program->errors");
        self::assertStringStartsWith('KEYSIEVE', (new Builder('words', allowSuspectKeys: true))->add($keys)->bytes());
    }

    public function testRefusesKeysThatHaveKeptTheirLineBreaks(): void
    {
        self::assertThrows(WrongKeys::class, '', static fn () => (new Builder('words'))->add(["apple\n", "pear\n"])->bytes());
    }

    public function testTakesOddKeysThatAreFewAmongMany(): void
    {
        $keys = [...self::keys(500), ' apple', "caf\xE9", 'a,b', '', 42];
        self::assertStringStartsWith('KEYSIEVE', (new Builder('words'))->add($keys)->bytes());
    }

    public function testRefusesWhatIsNoKey(): void
    {
        $builder = new Builder('words');
        self::assertThrows(WrongKeys::class, '', static fn () => $builder->add([str_repeat('a', Builder::LONGEST_KEY + 1)]));
        foreach ([null, 1.5, true, []] as $key) {
            self::assertThrows(\TypeError::class, '', static fn () => $builder->add([$key]));
        }
    }

    public function testBuildsNothingOfAListThatIsNotWhole(): void
    {
        $builder = (new Builder('words'))->add(['apple']);
        self::assertThrows(\TypeError::class, '', static fn () => $builder->add(['pear', null]));
        $builder->add(['plum']);
        foreach ([$builder->bytes(...), fn () => $builder->write("$this->folder/words.ks"), fn () => $builder->publish(SharedMemory::directory())] as $build) {
            self::assertThrows(\LogicException::class, 'words', $build);
        }
    }

    public function testRefusesSettingsOutOfTheirRange(): void
    {
        self::assertThrows(InvalidNameException::class, '', static fn () => new Builder('Words'));
        foreach ([['fpr' => 0.0], ['fpr' => 0.6], ['fpr' => 1e-9], ['fpr' => NAN], ['shardBytes' => 512], ['seed' => 'short'], ['seed' => str_repeat("\0", 16)],
            ['asOf' => -1], ['validFor' => -1], ['keyProfile' => str_repeat('a', 65)], ['keyProfile' => "a\0"]] as $setting) {
            self::assertThrows(\ValueError::class, '', static fn () => new Builder('words', ...$setting));
        }
    }

    public function testAFileIsReplacedAsAWholeOrNotAtAll(): void
    {
        $this->list('apple')->write("$this->folder/words.ks");
        $before = file_get_contents("$this->folder/words.ks");
        mkdir("$this->folder/folder.ks/full", recursive: true);
        self::assertThrows(CannotWrite::class, '', fn () => $this->list('pear')->write("$this->folder/missing/words.ks"));
        self::assertThrows(CannotWrite::class, '', fn () => $this->list('pear')->write("$this->folder/folder.ks"));
        $code = "(new KeySieve\\Build\\Builder('words'))->add(range(1, 100_000))->write('$this->folder/words.ks');";
        $limited = $this->script($code, ['sh', '-c', 'trap "" XFSZ; ulimit -f 16; exec "$@"', 'sh']);
        self::assertStringContainsString(CannotWrite::class, $limited->output);
        self::assertSame($before, file_get_contents("$this->folder/words.ks"));
        self::assertSame(['folder.ks', 'words.ks'], array_values(array_diff(scandir((string) $this->folder), ['.', '..'])));
    }

    public function testExtensionAndPackageAnswerFromWhatIsPublishedAtTheirNextCall(): void
    {
        $set = new Set('published');
        self::assertTrue($set->mayContain('apple'));
        foreach ([['apple'], ['apple', 'pear'], ['pear']] as $keys) {
            (new Builder('published'))->add($keys)->publish(SharedMemory::directory());
            \KeySieve\begin_request();
            $answers = array_map($set->mayContain(...), ['apple', 'pear', 'plum']);
            self::assertSame([in_array('apple', $keys, true), in_array('pear', $keys, true), false], $answers);
        }
        self::assertCount(8, scandir(SharedMemory::directory() . '/published')); // ".", "..", lock, control, and two files of each of two publications
    }

    public function testAPublishThatIsKilledAnywhereLeavesAnOldOrANewAnswer(): void
    {
        $folder = SharedMemory::folder('killed');
        $this->publish('killed', 'apple');
        $set = new Set('killed');
        $kills = 0;
        foreach (['flock', 'chmod', 'write', 'fsync', 'rename', 'unlink'] as $call) {
            for ($number = 1; $this->publishKilledAt($call, $number); ++$number, ++$kills) {
                \KeySieve\begin_request();
                self::assertSame([true, false], array_map($set->mayContain(...), ['apple', 'plum']), "$call $number");
                self::assertTrue($this->askedByAnother('killed', 'apple'), "$call $number");
                $this->publish('killed', 'apple');
                self::assertFalse($this->askedByAnother('killed', 'pear'), "$call $number");
                self::assertCount(8, scandir($folder), "$call $number");
            }
        }
        self::assertGreaterThan(15, $kills);
    }

    public function testABypassThatAKilledPublishHasSetAsideStays(): void
    {
        $control = SharedMemory::folder('aside') . '/control';
        foreach ([fn () => SharedMemory::put('aside', ['pear']), fn () => $this->publish('aside', 'pear')] as $publishAgain) {
            $this->publish('aside', 'apple');
            Program::keysieve('bypass', '--directory', SharedMemory::directory(), 'aside', '--for', '1h');
            rename($control, "$control.old"); // as it was just before that step, and after it
            try {
                $publishAgain();
            } catch (\Exception) { // it may refuse, but must not end the bypass
            }
            self::assertTrue($this->askedByAnother('aside', 'plum'));
            Program::keysieve('bypass', '--directory', SharedMemory::directory(), 'aside', '--off');
            self::assertFalse($this->askedByAnother('aside', 'plum'));
        }
    }

    public function testRemovesWhatAKilledWriteHasLeftAndNothingElse(): void
    {
        $script = "(new KeySieve\\Build\\Builder('words'))->add(['apple'])->write('$this->folder/words.ks');";
        $this->script($script, ['strace', '-o', "$this->folder/trace", '-e', 'trace=rename', '-e', 'inject=rename:signal=SIGKILL:when=1']);
        touch("$this->folder/.other.ks.0123456789ab.tmp");
        self::assertCount(1, glob("$this->folder/.words.ks.*.tmp"));
        $this->list('apple')->write("$this->folder/words.ks");
        self::assertSame(['.other.ks.0123456789ab.tmp', 'trace', 'words.ks'], array_values(array_diff(scandir((string) $this->folder), ['.', '..'])));
    }

    public function testAMillionKeysNeedNoMoreThan32MiB(): void
    {
        $code = "ini_set('memory_limit', '32M'); echo strlen((new KeySieve\\Build\\Builder('words'))->add(range_of(1_000_000))->bytes());"
            . 'function range_of(int $count): iterable { for ($key = 0; $key < $count; ++$key) { yield "key number $key"; } }';
        self::assertSame('1331200', $this->script($code)->output);
    }

    public function testLeavesASetAloneThatALoaderFeeds(): void
    {
        $loader = new Loader(['fed']);
        $loader->push(SharedMemory::build('fed', ['apple']));
        $set = new Set('fed');
        self::assertSoon(static fn (): bool => !$set->mayContain('pear'));
        self::assertThrows(CannotWrite::class, '', fn () => $this->publish('fed', 'pear'));
        unset($loader);
        $this->assertLeavesAlone('fed'); // keys may have been added
    }

    public function testMakesTheDirectoryAgainAndGivesTheFolderItsGroup(): void
    {
        $directory = "$this->folder/sets";
        (new Builder('words'))->add(['apple'])->publish($directory);
        self::assertSame(040755, fileperms($directory));
        self::needsRoot();
        chgrp($directory, 65534);
        clearstatcache();
        (new Builder('others'))->add(['apple'])->publish($directory);
        self::assertSame([65534, 65534], [filegroup("$directory/others"), filegroup("$directory/others/control")]);
    }

    /** @return iterable<string, array{\Closure(string, string): mixed}> what is done to a set and its folder */
    public static function setsToLeaveAlone(): iterable
    {
        $add = static fn (string $set) => [SharedMemory::putWithLayer($set, ['apple']), SharedMemory::addLive($set, 'pear')];
        yield 'to which keys were added' => [$add];
        yield 'the same without its page' => [static fn (string $set, string $folder) => [$add($set), unlink("$folder/control")]];
        yield 'the same with a damaged page' => [static fn (string $set, string $folder) => [$add($set), file_put_contents("$folder/control", 'damaged')]];
        yield 'of another user' => [static fn (string $set, string $folder) => [self::needsRoot(), chown($folder, 65534)]];
        yield 'of another version' => [static function (string $set, string $folder): void {
            SharedMemory::overwrite("$folder/control", substr_replace(file_get_contents("$folder/control"), pack('v', 3), 12, 2));
        }];
        yield 'that another process publishes' => [static function (string $set, string $folder): mixed {
            $lock = fopen("$folder/lock", 'r');
            flock($lock, LOCK_EX);
            return $lock;
        }];
        yield 'that is bypassed' => [static fn (string $set) => SharedMemory::bypass($set)];
    }

    #[DataProvider('setsToLeaveAlone')]
    public function testLeavesASetAlone(\Closure $change): void
    {
        static $number = 0;
        $set = 'alone-' . ++$number;
        $this->publish($set, 'apple');
        $this->publish($set, 'apple');
        $lock = $change($set, SharedMemory::folder($set)); // if it gives one, until the end
        $this->assertLeavesAlone($set);
    }

    private function assertLeavesAlone(string $set): void
    {
        $files = fn (): array => array_map(file_get_contents(...), array_filter(glob(SharedMemory::folder($set) . '/*'), is_file(...)));
        $before = $files();
        self::assertThrows(CannotWrite::class, '', fn () => $this->publish($set, 'pear'));
        self::assertSame($before, $files());
    }

    private function publish(string $set, string ...$words): void
    {
        (new Builder($set))->add($words)->publish(SharedMemory::directory());
    }

    /** False: it was not, because there is no such call. */
    private function publishKilledAt(string $call, int $number): bool
    {
        $strace = ['strace', '-o', "$this->folder/trace", '-e', "trace=$call", '-e', "inject=$call:signal=SIGKILL:when=$number"];
        $directory = SharedMemory::directory();
        $script = $this->script("(new KeySieve\\Build\\Builder('killed'))->add(['apple', 'pear'])->publish('$directory'); echo 'done';", $strace);
        return $script->output !== 'done';
    }

    private function askedByAnother(string $set, string $key): bool
    {
        return $this->script("var_export((new Set('$set'))->mayContain('$key'));")->output === 'true';
    }

    /** @param string[] $wrapper */
    private function script(string $code, array $wrapper = []): Program
    {
        return PhpScript::run('require_once ' . var_export(getenv('KEYSIEVE_PACKAGE'), true) . ". '/bootstrap.php';\n$code", wrapper: $wrapper);
    }

    private function list(string ...$words): Builder
    {
        return (new Builder('words'))->add($words);
    }

    /** A snapshot without what is its own. */
    private function shared(string $name): string
    {
        $bytes = (string) file_get_contents("$this->folder/$name");
        foreach (self::OWN as $at => $length) {
            $bytes = substr_replace($bytes, str_repeat("\0", $length), $at, $length);
        }
        return $bytes;
    }

    /** @return list<string> of any bytes, some of them twice */
    private static function randomKeys(int $count): array
    {
        $random = new \Random\Randomizer(new \Random\Engine\Xoshiro256StarStar(20_261_129));
        $keys = [];
        for ($i = 0; $i < $count; ++$i) {
            $key = str_replace("\0", '0', $random->getBytes($random->getInt(1, 20)));
            $keys[] = $i % 7 === 6 ? $keys[$i - 3] : $key;
        }
        return $keys;
    }
}
