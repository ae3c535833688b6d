<?php

declare(strict_types=1);

namespace KeySieve\Tests\Sources;

use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SourceTestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** A dir: store that the package reads by itself: snapshots, adds, and what is wrong with them. */
final class StoreTest extends SourceTestCase
{
    public function testAStoreIsFollowedThroughPushAddRollbackAndBypass(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple'], ['--kind', 'ribbon']);
        $next = $this->build(['apple', 'plum'], ['--like', $store]);
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        $script = $this->ask($store, <<<PHP
            \$keysieve = function (string \$arguments): void {
                exec("$keysieve \$arguments 2>&1", \$output, \$status);
                \$status === 0 || exit(implode("\\n", \$output));
            };
            \$tell = function (string \$why) use (\$say, \$set): void {
                \$say(\$why, \$set->mayContainMany(['apple', 'pear', 'plum']), \$set->info()->generation, \$set->info()->addedKeys, \$set->availability()->name);
            };
            \$tell('pushed');
            \$keysieve('add fruits pear $store');
            \$tell('same second');
            \$later(1);
            \$tell('added');
            \$keysieve('push $next $store');
            \$later(1);
            \$tell('pushed again');
            \$keysieve('rollback --yes --to 1 fruits $store');
            \$later(1);
            \$tell('rolled back');
            \$keysieve('bypass --store $store fruits');
            \$later(1);
            \$tell('bypassed');
            \$keysieve('bypass --store $store fruits --off');
            \$later(1);
            \$tell('switched on');
            PHP);
        self::assertSame(<<<'TEXT'
            ["pushed",[true,false,false],1,0,"Ready"]
            ["same second",[true,false,false],1,0,"Ready"]
            ["added",[true,true,false],1,1,"Ready"]
            ["pushed again",[true,true,true],2,1,"Ready"]
            ["rolled back",[true,true,false],3,1,"Ready"]
            ["bypassed",[true,true,true],3,1,"Bypassed"]
            ["switched on",[true,true,false],3,1,"Ready"]

            TEXT, $script->output, $script->errors);
    }

    /** @return iterable<string, array{string, string}> a pattern of files of the store, and the reason */
    public static function damages(): iterable
    {
        yield 'pointer record' => ['keysieve:fruits:current', 'is damaged (checksum)'];
        yield 'adds log' => ['.log-keysieve:fruits:adds', 'is damaged at byte 0'];
        yield 'chunk' => ['keysieve:fruits:*:0', 'header is damaged'];
    }

    #[DataProvider('damages')]
    public function testADamagedStoreMeansMaybe(string $files, string $reason): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        Program::keysieve('add', 'fruits', 'pear', $store);
        [$file] = glob("$this->folder/store/$files");
        $bytes = file_get_contents($file);
        $bytes[30] = $bytes[30] ^ "\x01";
        file_put_contents($file, $bytes);
        $script = $this->ask($store, '$say($set->mayContainMany(["apple", "pear", "absent"]), $set->availability()->name);');
        self::assertSame("[[true,true,true],\"Missing\"]\n", $script->output);
        self::assertStringContainsString($reason, $script->errors);
    }

    /** As in a folder that is copied log first, or whose copy was interrupted. */
    public function testALogThatWasTrimmedPastThePointerMeansMaybe(): void
    {
        [$store, $copy] = ["$this->folder/store", "$this->folder/copy"];
        mkdir($store);
        $this->push("dir:$store", ['apple', 'plum'], ['--adds-from', $this->add('plum', "dir:$store")]);
        exec("cp -r '$store' '$copy'");
        $pear = $this->add('pear', "dir:$store");
        for ($i = 0; $i < 3; ++$i) {
            $this->push("dir:$store", ['apple', 'plum', 'pear'], ['--adds-from', $pear]);
        }
        $log = '.log-keysieve:fruits:adds';
        $script = $this->ask("dir:$copy", <<<PHP
            \$tell = fn () => \$say(\$set->mayContainMany(['apple', 'pear', 'absent']), \$set->availability()->name);
            \$tell();
            copy('$store/$log', '$copy/aside');
            rename('$copy/aside', '$copy/$log');
            \$later(1);
            \$tell();
            exec("cp -r '$store/.' '$copy'");
            \$later(1);
            \$tell();
            PHP);
        self::assertSame("[[true,false,false],\"Ready\"]\n[[true,true,true],\"Missing\"]\n[[true,true,false],\"Ready\"]\n", $script->output);
        self::assertStringContainsString("$log: the adds log no longer has all keys that were added since generation 1", $script->errors);
    }

    /** Keys that were added are lost with it, and so they are if another log takes its place. */
    public function testAnAddsLogThatIsGoneMeansMaybe(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        $log = "$this->folder/store/.log-keysieve:fruits:adds";
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        $script = $this->ask($store, <<<PHP
            \$tell = fn () => \$say(\$set->mayContainMany(['apple', 'pear', 'absent']), \$set->availability()->name);
            \$tell();
            rename('$log', '$log.aside');
            \$later(1);
            \$tell();
            rename('$log.aside', '$log');
            \$later(1);
            \$tell();
            rename('$log', '$log.aside');
            exec('$keysieve add fruits pear $store');
            \$later(1);
            \$tell();
            rename('$log.aside', '$log');
            \$later(1);
            \$tell();
            PHP);
        [$ready, $missing] = ["[[true,false,false],\"Ready\"]\n", "[[true,true,true],\"Missing\"]\n"];
        self::assertSame($ready . $missing . $ready . $missing . $ready, $script->output, $script->errors);
        self::assertStringContainsString('keys that were added since generation 1 are lost', $script->errors);
    }

    /** As many keys as a push has counted, but not the same ones: an older copy was restored, and others were added. */
    public function testAnAddsLogThatHasLostKeysAndGotAsManyOthersMeansMaybe(): void
    {
        $store = "dir:$this->folder/store";
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        $log = "$this->folder/store/.log-keysieve:fruits:adds";
        $this->push($store, ['apple']);
        exec("$keysieve add fruits pear plum $store");
        copy($log, "$log.older");
        exec("$keysieve add fruits fig lime $store");
        $this->push($store, ['apple', 'cherry']);
        $script = $this->ask($store, <<<PHP
            \$tell = fn () => \$say(\$set->mayContainMany(['apple', 'plum', 'absent']), \$set->availability()->name);
            \$tell();
            rename('$log.older', '$log');
            exec('$keysieve add fruits kiwi date $store');
            \$later(1);
            \$tell();
            PHP);
        self::assertSame("[[true,true,false],\"Ready\"]\n[[true,true,true],\"Missing\"]\n", $script->output, $script->errors);
    }

    /** Such a snapshot says only when its keys were read, which is enough. */
    public function testASnapshotBuiltWithoutATrimmedLogAnswers(): void
    {
        $store = "dir:$this->folder/store";
        mkdir("$this->folder/store");
        $this->clock->advance(-3600);
        $plum = $this->add('plum', $store, $this->clock->environment());
        $this->push($store, ['plum'], ['--adds-from', $plum]);
        $this->clock->advance(3600);
        Program::keysieve('push', $this->build(['plum', 'apple']), $store);
        $script = $this->ask($store, '$say($set->mayContainMany(["apple", "absent"]), $set->availability()->name);');
        self::assertSame("[[true,false],\"Ready\"]\n", $script->output, $script->errors);
    }

    public function testATornEndOfTheAddsLogIsReadOnceItIsWhole(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        Program::keysieve('add', 'fruits', 'pear', $store);
        $log = "$this->folder/store/.log-keysieve:fruits:adds";
        $whole = file_get_contents($log);
        file_put_contents($log, substr($whole, 0, -5));
        file_put_contents("$log.whole", $whole);
        $script = $this->ask($store, <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear']));
            file_put_contents('$log', file_get_contents('$log.whole'));
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear']));
            PHP);
        self::assertSame("[[true,false]]\n[[true,true]]\n", $script->output);
    }

    public function testALogWhoseEndWasReplacedIsReadAgain(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        Program::keysieve('add', 'fruits', 'pear', $store);
        $log = "$this->folder/store/.log-keysieve:fruits:adds";
        $other = "dir:$this->folder/other";
        $this->push($other, ['apple']);
        file_put_contents("$this->folder/keys", 'plum ' . str_repeat('x', 200) . "\nplum\n");
        Program::keysieve('add', 'fruits', '--file', "$this->folder/keys", $other);
        $script = $this->ask($store, <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear', 'plum']));
            file_put_contents('$log', file_get_contents('$this->folder/other/.log-keysieve:fruits:adds')); // the same file
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear', 'plum']));
            PHP);
        self::assertSame("[[true,true,false]]\n[[true,true,true]]\n", $script->output, $script->errors);
    }

    /** A writer whose disk fails takes its frame back, which others may have read. */
    public function testAFrameInThePlaceOfOneThatWasTakenBackIsRead(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        $log = "$this->folder/store/.log-keysieve:fruits:adds";
        Program::keysieve('add', 'fruits', 'pear', $store);
        $size = filesize($log);
        Program::keysieve('add', 'fruits', 'fig1', $store);
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        $script = $this->ask($store, <<<PHP
            \$say(\$set->mayContainMany(['pear', 'fig1', 'fig2']), filesize('$log'));
            ftruncate(fopen('$log', 'r+'), $size);
            exec('$keysieve add fruits fig2 $store');
            \$later(1);
            clearstatcache();
            \$say(\$set->mayContainMany(['pear', 'fig1', 'fig2']), filesize('$log'));
            PHP);
        $end = 2 * $size;
        self::assertSame("[[true,true,false],$end]\n[[true,true,true],$end]\n", $script->output, $script->errors);
    }

    public function testAZeroFrameInTheMiddleOfTheAddsLogMeansMaybe(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        Program::keysieve('add', 'fruits', 'pear', $store);
        Program::keysieve('add', 'fruits', 'plum', $store);
        $log = "$this->folder/store/.log-keysieve:fruits:adds";
        file_put_contents($log, substr_replace(file_get_contents($log), str_repeat("\0", 64), 0, 64));
        $script = $this->ask($store, '$say($set->mayContainMany(["apple", "pear", "plum"]), $set->availability()->name);');
        self::assertSame("[[true,true,true],\"Missing\"]\n", $script->output);
        self::assertStringContainsString('is damaged at byte 0', $script->errors);
    }

    /** @return iterable<string, array{string}> */
    public static function unreadableRecords(): iterable
    {
        yield 'adds log' => ['.log-keysieve:fruits:adds'];
        yield 'bypass' => ['keysieve:fruits:bypass'];
    }

    #[DataProvider('unreadableRecords')]
    public function testARecordThatIsThereButCannotBeReadMeansMaybe(string $record): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        symlink($record, "$this->folder/store/$record"); // to itself
        $script = $this->ask($store, '$say($set->mayContainMany(["apple", "pear"]), $set->availability()->name);');
        self::assertSame("[[true,true],\"Missing\"]\n", $script->output);
        self::assertStringContainsString("$record: No such file or directory", $script->errors);
    }

    /** @return iterable<string, array{string}> */
    public static function records(): iterable
    {
        yield 'pointer' => ['keysieve:fruits:current'];
        yield 'bypass of all sets' => ['keysieve:bypass'];
    }

    #[DataProvider('records')]
    public function testARecordThatIsTooLargeForMemoryMeansMaybe(string $record): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        ftruncate(fopen("$this->folder/store/$record", 'c'), 16 << 30);
        $script = $this->ask($store, '$say($set->mayContain("pear"), $set->availability()->name);');
        self::assertSame("[true,\"Missing\"]\n", $script->output, $script->errors);
        self::assertStringContainsString("$record: has 17179869184 bytes, 65536 are the most", $script->errors);
    }

    public function testWhatOpenBasedirHidesIsNotTakenForMissing(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        Program::keysieve('add', 'fruits', 'pear', $store);
        $log = "$this->folder/store/.log-keysieve:fruits:adds";
        $elsewhere = new Folder('elsewhere');
        rename($log, "$elsewhere/log");
        symlink("$elsewhere/log", $log);
        $script = static fn (string $allowed): Program => PhpScript::run(
            "ini_set('open_basedir', '$allowed'); echo json_encode((new Set('fruits'))->mayContainMany(['pear', 'plum']));",
            ['keysieve.directory' => ''],
            environment: ['KEYSIEVE_SOURCE' => $store],
        );
        $package = getenv('KEYSIEVE_PACKAGE');
        self::assertSame('[true,true]', $script("$package:$this->folder")->output);
        self::assertStringContainsString("$log: open_basedir restriction in effect", $script("$package:$this->folder")->errors);
        self::assertSame('[true,false]', $script("$package:$this->folder:$elsewhere")->output);
    }

    public function testAChunkThatCannotBeReadIsLoggedOnceUntilItCan(): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, range(1, 1_000), ['--growth', '100']);
        [$chunk] = glob("$this->folder/store/keysieve:fruits:*:1"); // 0 has the header
        rename($chunk, "$chunk-away");
        $script = $this->ask($store, <<<PHP
            \$ask = fn () => \$say(array_sum(\$set->mayContainMany(range(10_001, 10_200))), \$set->availability()->name);
            for (\$second = 0; \$second < 4; ++\$second) {
                \$ask();
                \$later(1);
            }
            rename('$chunk-away', '$chunk');
            \$later(1);
            \$ask();
            \$later(1);
            \$ask();
            PHP);
        self::assertSame(str_repeat("[200,\"Missing\"]\n", 4) . str_repeat("[0,\"Ready\"]\n", 2), $script->output);
        self::assertSame([
            "keysieve: set \"fruits\" is missing ($chunk: No such file or directory): every lookup answers maybe",
            'keysieve: set "fruits" is ready again',
        ], explode("\n", trim($script->errors)));
    }
}
