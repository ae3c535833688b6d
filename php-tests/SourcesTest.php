<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** Where the package finds sets without a loader: in files, and in a dir: store. */
final class SourcesTest extends TestCase
{
    private Folder $folder;
    private Clock $clock;

    protected function setUp(): void
    {
        $this->folder = new Folder('sources');
        $this->clock = new Clock();
    }

    public function testAFileAnswersAndANewerOneTakesItsPlace(): void
    {
        $this->buildFile(['apple'], ['--key-profile', 'raw', '--known-absent', $this->list('absent', self::keys(1_000, 'absent'))]);
        $next = $this->build(['apple', 'pear']);
        $script = $this->ask("files:$this->folder", <<<PHP
            \$say(count((new Set('fruits'))->candidates(array_map(fn (\$i) => "absent \$i", range(1, 1000)))));
            \$say((new Set('fruits', 'raw'))->mayContainMany(['apple', 'pear']), (new Set('fruits', 'lower'))->availability()->name);
            rename('$next', '$this->folder/fruits.ks');
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear']));
            PHP);
        self::assertSame("[0]\n[[true,false],\"Incompatible\"]\n[[true,true]]\n", $script->output);
    }

    public function testAFileThatIsReplacedByADamagedOneKeepsAnswering(): void
    {
        $this->buildFile(['apple']);
        $script = $this->ask("files:$this->folder", <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear']));
            file_put_contents('$this->folder/new', 'not a snapshot');
            rename('$this->folder/new', '$this->folder/fruits.ks');
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear']), \$set->availability()->name);
            PHP);
        self::assertSame("[[true,false]]\n[[true,false],\"Ready\"]\n", $script->output);
        self::assertStringContainsString('keeps its old publication: ' . "$this->folder/fruits.ks: is not a whole snapshot", $script->errors);
    }

    public function testAFileExpires(): void
    {
        $this->buildFile(['apple'], ['--valid-for', '1h']);
        $script = $this->ask("files:$this->folder", <<<'PHP'
            $say($set->mayContain('pear'), $set->availability()->name);
            $later(7200);
            $say($set->mayContain('pear'), $set->availability()->name);
            PHP);
        self::assertSame("[false,\"Ready\"]\n[true,\"Expired\"]\n", $script->output);
    }

    public function testAMissingFileMeansMaybe(): void
    {
        $script = $this->ask("files:$this->folder", '$say($set->mayContain("pear"), $set->availability()->name);');
        self::assertSame("[true,\"Missing\"]\n", $script->output);
        self::assertStringContainsString("set \"fruits\" is missing ($this->folder/fruits.ks: No such file or directory; no set has this name)", $script->errors);
    }

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

    /** @dataProvider damages */
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

    public function testWithoutASourceEveryAnswerIsMaybeAndOneLineSaysSo(): void
    {
        $script = $this->ask('', <<<'PHP'
            $say($set->mayContain('pear'), (new Set('other'))->mayContainMany(['x' => 1]), $set->availability()->name, $set->info());
            PHP);
        self::assertSame("[true,{\"x\":true},\"Missing\",null]\n", $script->output);
        self::assertSame("keysieve: neither the extension nor KEYSIEVE_SOURCE is there: every lookup answers maybe\n", $script->errors);
    }

    public function testAWrongSourceInTheEnvironmentMeansMaybe(): void
    {
        $script = $this->ask('redis://cache', '$say($set->mayContain("pear"), $set->availability()->name);');
        self::assertSame("[true,\"Missing\"]\n", $script->output);
        self::assertStringContainsString('a store with redis: is no source of sets: "keysieve pull SET URL', $script->errors);
    }

    public function testAFolderInThePlaceOfAFileMeansMaybe(): void
    {
        mkdir("$this->folder/fruits.ks");
        $script = $this->ask("files:$this->folder", '$say($set->mayContain("pear"), $set->availability()->name);');
        self::assertSame("[true,\"Missing\"]\n", $script->output);
        self::assertStringContainsString('fruits.ks: not a regular file', $script->errors);
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

    /** @dataProvider unreadableRecords */
    public function testARecordThatIsThereButCannotBeReadMeansMaybe(string $record): void
    {
        $store = "dir:$this->folder/store";
        $this->push($store, ['apple']);
        symlink($record, "$this->folder/store/$record"); // to itself
        $script = $this->ask($store, '$say($set->mayContainMany(["apple", "pear"]), $set->availability()->name);');
        self::assertSame("[[true,true],\"Missing\"]\n", $script->output);
        self::assertStringContainsString($record, $script->errors);
    }

    public function testAFileThatIsWrittenAgainInItsSecondIsFollowed(): void
    {
        $this->buildFile(['apple']);
        [$one, $other] = [$this->build(['pear']), $this->build(['plum'])];
        $script = PhpScript::run(<<<PHP
            copy('$one', '$this->folder/fruits.ks');
            \$first = (new Set('fruits'))->mayContain('pear');
            copy('$other', '$this->folder/fruits.ks');
            \$until = hrtime(true) + 60e9;
            while (!(\$second = (new Set('fruits'))->mayContain('plum')) && hrtime(true) < \$until) {
                usleep(10_000);
            }
            echo json_encode([\$first, \$second]);
            PHP, ['keysieve.directory' => ''], environment: ['KEYSIEVE_SOURCE' => "files:$this->folder"]);
        self::assertSame('[true,true]', $script->output);
    }

    public function testAnOwnerThatCannotBeLookedUpIsNotTrusted(): void
    {
        SharedMemory::put('owned', ['apple']);
        Program::output(['chown', '-R', 'nobody', SharedMemory::folder('owned')]);
        $settings = ['keysieve.owner' => 'nobody', 'disable_functions' => 'posix_geteuid,posix_getpwnam'];
        $script = PhpScript::run("echo (new Set('owned'))->availability()->name;", $settings);
        self::assertSame('Missing', $script->output);
        self::assertStringContainsString('user "nobody" cannot be looked up without the extension posix', $script->errors);
        self::assertStringContainsString('without the extension posix this process does not know its user', $script->errors);
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
        $package = dirname(__DIR__) . '/php';
        self::assertSame('[true,true]', $script("$package:$this->folder")->output);
        self::assertStringContainsString("$log: open_basedir restriction in effect", $script("$package:$this->folder")->errors);
        self::assertSame('[true,false]', $script("$package:$this->folder:$elsewhere")->output);
    }

    public function testAForkedProcessReadsByItself(): void
    {
        SharedMemory::putWithLayer('forked', ['apple']);
        SharedMemory::addLive('forked', 'pear');
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('forked');
            $set->mayContain('pear');
            $children = [];
            for ($child = 0; $child < 3; ++$child) {
                $children[] = $pid = pcntl_fork();
                if ($pid === 0) {
                    for ($call = 0; $call < 20_000; ++$call) {
                        $set->mayContain('pear') || exit(1);
                    }
                    exit(0);
                }
            }
            foreach ($children as $pid) {
                pcntl_waitpid($pid, $status);
                echo pcntl_wexitstatus($status);
            }
            PHP);
        self::assertSame('000', $script->output, $script->errors);
    }

    public function testASignalHandlerMayAskInTheMiddleOfACall(): void
    {
        SharedMemory::putWithLayer('signalled', ['apple']);
        SharedMemory::addLive('signalled', 'pear');
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('signalled');
            $asked = 0;
            pcntl_async_signals(true);
            pcntl_signal(SIGUSR1, function () use ($set, &$asked): void {
                $set->mayContainMany(['pear', 'absent']);
                ++$asked;
            });
            $sender = proc_open(['sh', '-c', 'while kill -USR1 ' . getmypid() . '; do sleep 0.001; done'], [], $pipes);
            for ($call = 0; $asked < 300 || $call < 20_000; ++$call) {
                $set->mayContain('pear') || exit('absent');
            }
            echo 'maybe';
            proc_terminate($sender);
            PHP);
        self::assertSame('maybe', $script->output, $script->errors);
    }

    public function testNoClassIsLoadedAfterTheFirstSetWhereASignalHandlerWouldMissIt(): void
    {
        SharedMemory::putWithLayer('loaded', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('loaded');
            spl_autoload_register(function (string $class): void { echo "$class "; }, prepend: true);
            echo json_encode([$set->mayContainMany(['apple', 'pear']), $set->availability()->name, $set->info()->keyCount]);
            try {
                (new Set('none', throw: true))->mayContain('apple');
            } catch (UnavailableException) {
            }
            PHP);
        self::assertSame('[[true,false],"Ready",1]', $script->output, $script->errors);
    }

    public function testADamagedShardIsLoggedOnce(): void
    {
        $this->buildFile(['apple']);
        $file = "$this->folder/fruits.ks";
        $bytes = file_get_contents($file);
        $bytes[-1] = $bytes[-1] ^ "\x01";
        file_put_contents($file, $bytes);
        touch($file, time() - 60); // else it might still be written
        $script = $this->ask("files:$this->folder", <<<'PHP'
            for ($second = 0; $second < 5; ++$second) {
                $set->mayContain('pear') || exit('absent');
                $later(1);
            }
            $say($set->availability()->name);
            PHP);
        self::assertSame("[\"Missing\"]\n", $script->output);
        self::assertSame(1, substr_count($script->errors, "\n"), $script->errors);
        self::assertStringContainsString('shards are damaged', $script->errors);
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

    public function testAFileIsFollowedOnlyToWhatItsKeyHasSigned(): void
    {
        $key = $this->publicKey('one');
        $this->publicKey('other');
        $this->buildFile(['apple'], ['--sign-key', "$this->folder/one.key", '--as-of', '@1700003600']);
        $others = [
            'is not signed' => $this->build(['pear']),
            'is signed by' => $this->build(['pear'], ['--sign-key', "$this->folder/other.key"]),
            'older than what was read before' => $this->build(['pear'], ['--sign-key', "$this->folder/one.key", '--as-of', '@1700000000']),
            '' => $this->build(['plum'], ['--sign-key', "$this->folder/one.key", '--as-of', '@1700007200']),
        ];
        $code = '';
        foreach ($others as $reason => $file) {
            $code .= "rename('$file', '$this->folder/fruits.ks'); \$later(1); \$say('$reason', \$set->mayContainMany(['apple', 'pear', 'plum']), \$set->info()->trouble);";
        }
        $script = $this->ask("files:$this->folder", '$say($set->mayContain("pear"));' . $code, ['KEYSIEVE_PUBLIC_KEYS' => $key]);
        $lines = array_map(json_decode(...), explode("\n", trim($script->output)));
        self::assertSame([false], array_shift($lines), $script->errors);
        self::assertCount(count($others), $lines, $script->errors);
        foreach ($lines as [$reason, $answers, $trouble]) {
            self::assertSame($reason === '' ? [false, false, true] : [true, false, false], $answers);
            self::assertStringContainsString($reason, (string) $trouble);
            self::assertSame($reason === '', $trouble === null);
        }
    }

    public function testAStoreIsReadOnlyIfItsKeyHasSignedWhatIsCurrent(): void
    {
        $store = "dir:$this->folder/store";
        $key = $this->publicKey('one');
        $this->push($store, ['apple'], ['--sign-key', "$this->folder/one.key"]);
        $next = $this->build(['apple', 'pear'], ['--like', $store]);
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        $script = $this->ask($store, <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear', 'plum']), \$set->availability()->name);
            exec('$keysieve push $next $store');
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear', 'plum']), \$set->availability()->name);
            PHP, ['KEYSIEVE_PUBLIC_KEYS' => $key]);
        self::assertSame("[[true,false,false],\"Ready\"]\n[[true,true,true],\"Missing\"]\n", $script->output, $script->errors);
        self::assertStringContainsString('is not signed, but must be by ' . substr($key, 0, 16), $script->errors);
    }

    public function testWrongPublicKeysMeanMaybeAndAreNotShown(): void
    {
        $this->buildFile(['apple']);
        $script = $this->ask("files:$this->folder", '$say($set->mayContain("pear"));', ['KEYSIEVE_PUBLIC_KEYS' => 'secret']);
        self::assertSame("[true]\n", $script->output);
        self::assertSame("keysieve: KEYSIEVE_PUBLIC_KEYS: key 1 is not a public key: 64 hexadecimal digits, as keysieve keygen prints them: every lookup answers maybe\n", $script->errors);
    }

    public function testPublicKeysThatAreSetButEmptyMeanMaybe(): void
    {
        $this->buildFile(['apple']);
        $script = PhpScript::run(
            "echo json_encode((new Set('fruits'))->mayContain('pear'));",
            ['keysieve.directory' => ''],
            ['env', 'KEYSIEVE_PUBLIC_KEYS='], // proc_open() passes no variable that is empty
            ['KEYSIEVE_SOURCE' => "files:$this->folder"],
        );
        self::assertSame('true', $script->output);
        self::assertStringStartsWith('keysieve: KEYSIEVE_PUBLIC_KEYS: key 1 is not a public key: ', $script->errors);
    }

    public function testWithoutSodiumASignedFileMeansMaybe(): void
    {
        $key = $this->publicKey('one');
        $this->buildFile(['apple'], ['--sign-key', "$this->folder/one.key"]);
        $code = "KeySieve\\Reader\\Settings::signedBy('$key'); echo json_encode((new Set('fruits'))->mayContain('pear'));";
        $ask = fn (string $disabled): Program => PhpScript::run(
            $code,
            ['keysieve.directory' => '', 'disable_functions' => $disabled],
            environment: ['KEYSIEVE_SOURCE' => "files:$this->folder"],
        );
        self::assertSame('false', $ask('')->output);
        $script = $ask('sodium_crypto_sign_verify_detached,sodium_crypto_generichash');
        self::assertSame('true', $script->output);
        self::assertStringContainsString("its signature cannot be checked without PHP's extension sodium", $script->errors);
    }

    public function testAWrongSourceIsRefusedAsItIsWritten(): void
    {
        $script = PhpScript::run(<<<'PHP'
            foreach (['redis://:secret@cache', 'dir:', '/run/keysieve', 'files:/srv?prefix=x', 'files:http://cache/x', "files:/a\0b"] as $source) {
                try {
                    KeySieve\Reader\Settings::use($source);
                } catch (InvalidArgumentException $exception) {
                    echo $exception->getMessage(), "\n";
                }
            }
            PHP);
        self::assertSame(6, substr_count($script->output, 'is no source of sets'), $script->output);
        $told = 'a store with redis: is no source of sets: "keysieve pull SET URL -o SET.ks" fetches from it, then use files:/path; or a dir: store';
        self::assertStringStartsWith("$told\n\"dir:\" is no source of sets: directory:/path, dir:/path or files:/path\n", $script->output);
        self::assertStringNotContainsString('secret', $script->output);
    }

    /** @return iterable<string, array{string, string}> a link that will lead elsewhere, and what the set's file is by then */
    public static function links(): iterable
    {
        yield 'to a release' => ['current', 'current/fruits.ks'];
        yield 'on the way of another link' => ['.data', 'fruits.ks']; // as Kubernetes mounts volumes
    }

    /**
     * PHP remembers where links lead.
     *
     * @dataProvider links
     */
    public function testALinkThatLeadsElsewhereIsFollowed(string $link, string $file): void
    {
        foreach (['apple' => 1, 'pear' => 2] as $key => $release) {
            mkdir("$this->folder/$release");
            rename($this->build([$key]), "$this->folder/$release/fruits.ks");
        }
        symlink('1', "$this->folder/$link");
        if ($file === 'fruits.ks') {
            symlink("$link/$file", "$this->folder/$file");
        }
        $folder = dirname("$this->folder/$file");
        $script = $this->ask("files:$folder", <<<PHP
            \$say(\$set->mayContainMany(['apple', 'pear']));
            exec("ln -sfn 2 '$this->folder/$link'");
            \$later(1);
            \$say(\$set->mayContainMany(['apple', 'pear']));
            PHP);
        self::assertSame("[[true,false]]\n[[false,true]]\n", $script->output, $script->errors);
    }

    /** As the extension, which opens the folder to know whose it is. */
    public function testAFolderThatMayOnlyBeSearchedIsRefused(): void
    {
        SharedMemory::put('searched', ['apple']);
        $folder = SharedMemory::folder('searched');
        Program::output(['chmod', '-R', 'a+r', $folder]);
        $ask = "class_exists(Set::class); posix_setuid(65534); echo (new Set('searched'))->availability()->name;";
        foreach ([0755 => 'Ready', 0711 => 'Missing'] as $mode => $state) {
            chmod($folder, $mode);
            $script = PhpScript::run($ask);
            self::assertSame($state, $script->output, $script->errors);
        }
        self::assertStringContainsString("$folder: Permission denied", $script->errors);
    }

    public function testALargeSetNeedsLittleMemory(): void
    {
        $this->buildFile(range(1, 200_000), ['--growth', '100']);
        self::assertGreaterThan(60 << 20, filesize("$this->folder/fruits.ks"));
        $script = $this->ask("files:$this->folder", <<<'PHP'
            for ($key = 1; $key <= 200_000; $key += 200) {
                in_array(false, $set->mayContainMany(range($key, $key + 19)), true) && exit('absent');
            }
            $say(memory_get_peak_usage() < 8_000_000);
            PHP);
        self::assertSame("[true]\n", $script->output);
    }

    /** Runs code with $set, which asks the source, $say(), which writes JSON, and $later(), which moves the clock. */
    private function ask(string $source, string $code, array $environment = []): Program
    {
        $prelude = <<<'PHP'
            $set = new Set('fruits');
            $say = fn (mixed ...$what) => print(json_encode($what) . "\n");
            $later = fn (int $seconds) => fwrite(fopen(getenv('FAKETIME_TIMESTAMP_FILE'), 'c'), (string) (time() + $seconds));

            PHP;
        return PhpScript::run($prelude . $code, ['keysieve.directory' => ''], environment: ['KEYSIEVE_SOURCE' => $source, 'NO_FAKE_STAT' => '1'] + $environment + $this->clock->environment());
    }

    /** @param array<string|int> $keys */
    private function build(array $keys, array $options = []): string
    {
        $snapshot = tempnam((string) $this->folder, 'built-');
        Program::keysieve('build', '--set', 'fruits', '--fpr', '0.0001', ...$options, ...[$this->list('keys', $keys), '-o', $snapshot]);
        return $snapshot;
    }

    private function publicKey(string $name): string
    {
        return json_decode(Program::keysieve('keygen', "$this->folder/$name.key", '--json'))->public_key;
    }

    private function buildFile(array $keys, array $options = []): void
    {
        rename($this->build($keys, $options), "$this->folder/fruits.ks");
    }

    private function push(string $store, array $keys, array $options = []): void
    {
        Program::keysieve('push', $this->build($keys, [...$options, '--like', $store]), $store);
    }

    /** @return string its position in the log */
    private function add(string $key, string $store, array $environment = []): string
    {
        $added = Program::succeed([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'add', 'fruits', $key, $store, '--json', '--allow-unknown-set'], $environment);
        return json_decode($added->output)->last_position;
    }

    /** @param array<string|int> $keys */
    private function list(string $name, array $keys): string
    {
        file_put_contents("$this->folder/$name.list", implode("\n", $keys) . "\n");
        return "$this->folder/$name.list";
    }
}
