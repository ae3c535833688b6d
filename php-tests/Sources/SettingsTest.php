<?php

declare(strict_types=1);

namespace KeySieve\Tests\Sources;

use KeySieve\Reader\Settings;
use KeySieve\Set;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** The settings of a process: its source, the users it trusts, and its answers for seen sets. Also forks and signals. */
final class SettingsTest extends TestCase
{
    /** What a seen set answers: what the application has chosen. */
    private const SEEN_CALLS = <<<'PHP'
        $set = new KeySieve\SeenSet('clicks');
        try {
            echo json_encode([$set->addIfNew('a'), $set->addIfNew('a'), $set->addManyIfNew(['x' => 'a', 7 => 'a']), $set->mayContain('a')]);
        } catch (UnavailableException $exception) {
            echo $exception->getMessage();
        }
        PHP;
    private const MISSING = 'seen set "clicks" is missing (only the extension has seen sets; KEYSIEVE_SEEN_ON_UNAVAILABLE=new or =seen answers without it)';

    public function testWithoutASourceOrWithAWrongOneEveryAnswerIsMaybeAndOneLineSaysSo(): void
    {
        foreach (['' => 'neither the extension nor KEYSIEVE_SOURCE is there', 'redis://cache' => 'a store with redis: is not a source of sets: '] as $source => $reason) {
            $script = PhpScript::run(<<<'PHP'
                $set = new Set('fruits');
                echo json_encode([$set->mayContain('pear'), (new Set('other'))->mayContainMany(['x' => 1]), $set->availability()->name, $set->info()]);
                PHP, ['keysieve.directory' => ''], environment: $source === '' ? [] : ['KEYSIEVE_SOURCE' => $source]);
            self::assertSame('[true,{"x":true},"Missing",null]', $script->output);
            self::assertStringStartsWith("keysieve: $reason", $script->errors);
            self::assertStringEndsWith(": every lookup answers maybe\n", $script->errors);
            self::assertSame(1, substr_count($script->errors, "\n"));
        }
    }

    public function testAWrongSourceIsRefusedAsItIsWritten(): void
    {
        $script = PhpScript::run(<<<'PHP'
            foreach (['redis://:secret@cache', 'dir:/srv/keysieve', '/run/keysieve', 'files:', 'files:/srv?prefix=x', 'files:http://cache/x', "files:/a\0b"] as $source) {
                try {
                    KeySieve\Reader\Settings::use($source);
                } catch (InvalidArgumentException $exception) {
                    echo $exception->getMessage(), "\n";
                }
            }
            PHP);
        self::assertSame(7, substr_count($script->output, 'is not a source of sets'), $script->output);
        $told = 'is not a source of sets: let keysieved publish it, then use directory:/path; or fetch with "keysieve pull SET URL -o SET.ks", then use files:/path';
        $path = '"/run/keysieve" is not a source of sets: directory:/path or files:/path';
        self::assertStringStartsWith("a store with redis: $told\na store with dir: $told\n$path\n", $script->output);
        self::assertStringNotContainsString('secret', $script->output);
    }

    /** As the extension says when PHP starts. */
    public function testAWrongAnswerForUnavailableSetsIsSaidOnce(): void
    {
        $script = PhpScript::run('for ($i = 0; $i < 2; ++$i) { echo json_encode((new Set("one"))->mayContain("a")); }', ['keysieve.on_unavailable' => 'exception']);
        self::assertSame('truetrue', $script->output);
        self::assertSame(1, substr_count($script->errors, 'keysieve.on_unavailable must be "maybe" or "throw", not "exception"'), $script->errors);
    }

    public function testAnOwnerIsTrustedByNameIfItCanBeLookedUp(): void
    {
        self::needsRoot();
        SharedMemory::put('owned', ['apple']);
        Program::output(['chown', '-R', 'nobody', SharedMemory::folder('owned')]);
        $ask = "echo (new Set('owned'))->availability()->name;";
        foreach (['nobody' => 'Ready', 'daemon' => 'Missing'] as $owner => $state) {
            self::assertSame($state, PhpScript::run($ask, ['keysieve.owner' => $owner])->output);
        }
        $script = PhpScript::run($ask, ['keysieve.owner' => 'nobody', 'disable_functions' => 'posix_geteuid,posix_getpwnam']);
        self::assertSame('Missing', $script->output);
        self::assertStringContainsString('user "nobody" cannot be looked up without the extension posix', $script->errors);
        self::assertStringContainsString('without the extension posix this process does not know its user', $script->errors);
    }

    /** A host without that user would ask all its directories of users in each request. */
    public function testTheUserKeysieveIsLookedUpOnlyForAFolderOfAnother(): void
    {
        self::needsRoot();
        SharedMemory::put('given', ['apple']);
        $lookUps = static function (string $code): int {
            $trace = tempnam(sys_get_temp_dir(), 'keysieve-trace-');
            PhpScript::run($code, wrapper: ['strace', '-e', 'trace=open,openat', '-o', $trace]);
            return substr_count(file_get_contents($trace), '"/etc/passwd"');
        };
        $ask = "(new Set('given'))->availability();";
        $ofPhpItself = $lookUps('echo 1;'); // of opcache.preload_user
        self::assertSame($ofPhpItself, $lookUps($ask));
        chown(SharedMemory::folder('given'), 65534);
        self::assertGreaterThan($ofPhpItself, $lookUps($ask));
    }

    /** As some shared hosts do. */
    public function testAnswersWhereTheFunctionThatTellsForksApartIsDisabled(): void
    {
        SharedMemory::put('shared_host', ['apple']);
        $script = PhpScript::run("echo json_encode((new Set('shared_host'))->mayContainMany(['apple', 'pear']));", ['disable_functions' => 'getmypid']);
        self::assertSame('[true,false]', $script->output, $script->errors);
    }

    /** As the extension, which opens the folder to know whose it is. */
    public function testAFolderThatMayOnlyBeSearchedIsRefused(): void
    {
        self::needsRoot();
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

    /** Neither a link to nowhere nor a folder that cannot be looked into is an empty place. */
    public function testNothingIsThereOnlyWhereAFolderSaysSo(): void
    {
        self::needsRoot();
        $folder = new Folder('places', 0755);
        touch("$folder/file");
        symlink("nowhere", "$folder/link");
        symlink("$folder/loop", "$folder/loop");
        mkdir("$folder/closed", 0700);
        mkdir("$folder/searched", 0711);
        touch("$folder/searched/file");
        $script = PhpScript::run("\$folder = '$folder';" . <<<'PHP'
            class_exists(Set::class);
            posix_setuid(65534);
            foreach (['file', 'searched/file', 'none', 'none/none', 'file/none', 'link/none', 'loop/none', 'link', 'closed/file', 'searched/none'] as $place) {
                try {
                    $is[$place] = KeySieve\Reader\File::statusOf("$folder/$place") === null ? 'nothing' : 'there';
                } catch (KeySieve\Reader\Failure $failure) {
                    $is[$place] = substr(strrchr($failure->getMessage(), ':'), 2);
                }
            }
            echo json_encode($is, JSON_UNESCAPED_SLASHES);
            PHP);
        $expected = [
            'file' => 'there', 'searched/file' => 'there', 'none' => 'nothing', 'none/none' => 'nothing', 'file/none' => 'nothing', 'link/none' => 'nothing',
            'loop/none' => 'No such file or directory', 'link' => 'No such file or directory', 'closed/file' => 'Permission denied',
            'searched/none' => 'No such file or directory',
        ];
        self::assertSame(json_encode($expected, JSON_UNESCAPED_SLASHES), $script->output, $script->errors);
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

    /** @return iterable<string, array{?string, string, string, 3?: array<string, int>, 4?: string}> the environment, the answers, and what is logged; settings, and code */
    public static function choicesForSeenSets(): iterable
    {
        [$new, $seen] = ['[true,true,{"x":true,"7":true},true]', '[false,false,{"x":false,"7":false},true]'];
        $line = static fn (string $effect): string => 'keysieve: ' . self::MISSING . ": $effect\n";
        yield 'nothing' => [null, self::MISSING, $line('every call throws')];
        yield 'throw' => ['throw', self::MISSING, $line('every call throws')];
        yield 'new' => ['new', $new, $line('every key is new')];
        yield 'seen' => ['seen', $seen, $line('every key is seen')];
        $wrong = "keysieve: KEYSIEVE_SEEN_ON_UNAVAILABLE must be new, seen or throw, not \"maybe\": every call of a seen set throws\n";
        yield 'what it cannot be' => ['maybe', self::MISSING, $wrong . $line('every call throws')];
        yield 'what code chooses' => ['new', $seen, $line('every key is seen'), [], "KeySieve\\Reader\\Settings::answerSeenSets('seen');"];
        yield 'throw, disabled' => ['throw', $new, '', ['keysieve.enabled' => 0]];
        yield 'seen, disabled' => ['seen', $seen, '', ['keysieve.enabled' => 0]];
    }

    /** @param array<string, int> $settings */
    #[DataProvider('choicesForSeenSets')]
    public function testASeenSetAnswersAsWasChosenAndLogsItOnce(?string $choice, string $answers, string $lines, array $settings = [], string $code = ''): void
    {
        $script = PhpScript::run($code . self::SEEN_CALLS, $settings, environment: $choice === null ? [] : ['KEYSIEVE_SEEN_ON_UNAVAILABLE' => $choice]);
        self::assertSame([$answers, $lines], [$script->output, $script->errors]);
    }

    public function testCodeMayNotChooseAnythingElse(): void
    {
        $message = 'on_unavailable of seen sets must be new, seen or throw, not "maybe"';
        self::assertThrows(\InvalidArgumentException::class, $message, static fn () => Settings::answerSeenSets('maybe'));
    }
}
