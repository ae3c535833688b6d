<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** What an unavailable set says: one line for the operator, and an exception where the setting asks for one. */
final class UnavailableTest extends TestCase
{
    public function testAnUnknownSetIsLoggedOncePerProcess(): void
    {
        $script = PhpScript::run(<<<'PHP'
            set_error_handler(function () { echo 'a PHP warning'; });
            for ($call = 0; $call < 10_000; ++$call) {
                (new Set('nowhere'))->mayContain('apple');
                KeySieve\may_contain('nowhere', $call);
            }
            (new Set('nowhere'))->mayContainMany(['a', 'b']);
            (new Set('nowhere'))->availability();
            PHP);
        self::assertSame('', $script->output);
        self::assertSame(
            'keysieve: set "nowhere" is missing (' . SharedMemory::folder('nowhere')
                . ": No such file or directory): every lookup answers maybe\n",
            $script->errors,
        );
    }

    #[Group('extension')]
    #[Group('unsanitized')]
    public function testASetThatCannotBeOpenedOrMappedAnswersMaybe(): void
    {
        SharedMemory::put('limited', ['apple']);
        foreach (['--as=1:' => 'Cannot allocate memory', '--nofile=0:' => 'Too many open files'] as $limit => $reason) {
            $script = PhpScript::run(<<<PHP
                \$set = new Set('limited');
                exec('prlimit $limit --pid ' . getmypid());
                echo json_encode([\$set->mayContain('apple'), \$set->mayContain('pear'), \$set->availability()]);
                PHP);
            self::assertSame('[true,true,"missing"]', $script->output, $limit);
            self::assertStringContainsString("$reason): every lookup answers maybe", $script->errors);
        }
    }

    #[Group('extension')]
    public function testTroubleIsLoggedWhileARequestGoesOn(): void
    {
        SharedMemory::put('unending', ['apple']);
        $log = SharedMemory::directory() . '/unending.log';
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('unending');
            $set->mayContain('apple');
            $directory = get_cfg_var('keysieve.directory');
            exec(getenv('KEYSIEVE_BIN_DIR') . "/keysieve publish --directory $directory $directory/unending.ks");
            chmod("$directory/unending/0000000000000002.ks", 0460);
            $set->mayContain('pear');
            $set->mayContain('pear');
            echo substr_count(file_get_contents(ini_get('error_log')), 'set "unending" is missing ('), "\n";
            (new ReflectionExtension('keysieve'))->info();
            PHP, ['error_log' => $log]);
        self::assertStringStartsWith("1\n", $script->output);
        self::assertMatchesRegularExpression(
            '~^Set unending => missing, publication 1, split_block_bloom, 1 key, \d+ bytes \(.*/0000000000000002\.ks: not trusted: .*\)$~m',
            $script->output,
        );
    }

    public function testEveryChangeIsLoggedOnce(): void
    {
        SharedMemory::put('changing-state', ['apple'], ['--key-profile', 'raw']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('changing-state');
            $bypass = getenv('KEYSIEVE_BIN_DIR') . '/keysieve bypass --directory ' . get_cfg_var('keysieve.directory') . ' changing-state';
            $ask = function () use ($set) {
                for ($call = 0; $call < 5_000; ++$call) {
                    $set->mayContain('apple');
                }
            };
            $ask();
            exec($bypass);
            $ask();
            exec("$bypass --off");
            $ask();
            foreach (['lower', 'lower', 'upper'] as $profile) {
                for ($call = 0; $call < 100; ++$call) {
                    (new Set('changing-state', $profile))->mayContain('apple');
                    $set->mayContain('apple');
                }
            }
            PHP);
        self::assertSame(<<<'TEXT'
            keysieve: set "changing-state" is bypassed (bypassed by an operator of this host): every lookup answers maybe
            keysieve: set "changing-state" is ready again
            keysieve: set "changing-state" was built with key profile "raw", not "lower": every such lookup answers maybe
            keysieve: set "changing-state" was built with key profile "raw", not "upper": every such lookup answers maybe

            TEXT, $script->errors);
    }

    /** @return iterable<string, array{string, string}> calls, and what they throw */
    public static function calls(): iterable
    {
        $missing = 'set "nowhere" is missing (' . SharedMemory::folder('nowhere') . ': No such file or directory)';
        yield 'mayContain' => ["(new Set('nowhere'))->mayContain('a')", $missing];
        yield 'mayContainMany' => ["(new Set('nowhere'))->mayContainMany(['a', 'x' => 'b'])", $missing];
        yield 'candidates' => ["(new Set('nowhere'))->candidates(array_fill(0, 1000, 'a'))", $missing];
        yield 'may_contain' => ["KeySieve\\may_contain('nowhere', 'a')", $missing];
        yield 'candidate_sets' => ["KeySieve\\candidate_sets(['there', 'nowhere'], 'a')", $missing];
        $other = 'set "there" was built with key profile "raw", not "lower"';
        yield 'another key profile' => ["(new Set('there', 'lower'))->mayContain('a')", $other];
    }

    #[DataProvider('calls')]
    public function testThrowsWhereTheSettingSaysSo(string $call, string $message): void
    {
        SharedMemory::put('there', ['apple'], ['--key-profile', 'raw']);
        $script = PhpScript::run(<<<PHP
            for (\$round = 0; \$round < 3; ++\$round) {
                try {
                    $call;
                    echo "no exception\n";
                } catch (UnavailableException \$exception) {
                    echo \$exception->getMessage(), "\n";
                }
            }
            echo (new Set('nowhere'))->availability()->name, ' ', json_encode((new Set('there'))->mayContainMany(['apple', 'pear']));
            PHP, ['keysieve.on_unavailable' => 'throw']);
        self::assertSame(str_repeat("$message\n", 3) . 'Missing [true,false]', $script->output);
    }

    /** And follows the setting where it does not. */
    public function testAnObjectChoosesWhetherToThrow(): void
    {
        foreach (['maybe' => 'nowhere Missing, maybe, maybe, ', 'throw' => 'nowhere Missing, maybe, nowhere Missing, '] as $setting => $outcomes) {
            $script = PhpScript::run(<<<'PHP'
                foreach ([true, false, null] as $throw) {
                    try {
                        echo (new Set('nowhere', throw: $throw))->candidates(['a']) ? 'maybe, ' : 'absent, ';
                    } catch (UnavailableException $exception) {
                        echo "{$exception->set} {$exception->availability->name}, ";
                    }
                }
                PHP, ['keysieve.on_unavailable' => $setting]);
            self::assertSame($outcomes, $script->output, $setting);
        }
    }

    public function testABypassedSetNeverThrows(): void
    {
        SharedMemory::put('switched-off', ['apple']);
        SharedMemory::bypass('switched-off');
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('switched-off');
            echo $set->availability()->name, ' ', json_encode([$set->mayContain('pear'), $set->candidates(['pear'])]);
            PHP, ['keysieve.on_unavailable' => 'throw']);
        self::assertSame('Bypassed [true,["pear"]]', $script->output);
    }

    public function testAnUnknownOwnerThatWasSetIsLogged(): void
    {
        SharedMemory::put('there', ['apple']);
        $code = "echo (new Set('there'))->availability()->name; new Set('other');";
        $script = PhpScript::run($code, ['keysieve.owner' => 'no-such-user']);
        self::assertSame('Ready', $script->output);
        self::assertSame(1, substr_count($script->errors, 'keysieve.owner: user "no-such-user" does not exist'), 'once for all sets');
        foreach (['keysieve', '', '0'] as $owner) {
            self::assertSame('', PhpScript::run($code, ['keysieve.owner' => $owner])->errors);
        }
    }

    #[Group('unsanitized')]
    public function testKeyProfilesTakeBoundedMemoryAndLinesOfTheLog(): void
    {
        SharedMemory::put('profiled', ['apple'], ['--key-profile', 'raw']);
        $log = SharedMemory::directory() . '/profiles.log';
        $script = PhpScript::run(<<<'PHP'
            for ($profile = 0; $profile < 3_000; ++$profile) {
                (new Set('profiled', str_repeat("$profile ", 1_000)))->mayContain('apple');
            }
            echo memory_get_peak_usage() < 4 << 20 ? (new Set('profiled', 'raw'))->availability()->name : 'much';
            PHP, ['error_log' => $log]);
        self::assertSame('Ready', $script->output);
        $lines = file($log);
        self::assertCount(1_024, $lines);
        self::assertLessThan(300, max(array_map(strlen(...), $lines)));
    }

    #[Group('extension')]
    public function testAnOwnerThatCouldNotBeLookedUpIsLookedUpForTheNextSet(): void
    {
        $script = PhpScript::run(<<<'PHP'
            exec('prlimit --nofile=64 --pid ' . getmypid());
            for ($files = []; $file = @fopen('/dev/null', 'r'); $files[] = $file);
            new Set('first');
            $files = [];
            array_map(static fn (string $name): Set => new Set($name), ['second', 'third']);
            PHP, ['keysieve.owner' => 'no-such-user']);
        self::assertSame(2, preg_match_all('/"no-such-user" (could not be looked up|does not exist)/', $script->errors, $found));
        self::assertSame(['could not be looked up', 'does not exist'], $found[1]);
    }

    /** Names may come from another host; php-fpm looks before a worker may be in a chroot (Faults/FpmConfinementTest). */
    public function testTheOwnerIsLookedUpWhenASetIsFirstAsked(): void
    {
        $trace = tempnam(sys_get_temp_dir(), 'keysieve-trace-');
        $lookUps = static function (string $code, string $owner = 'nobody') use ($trace): int {
            $wrapper = ['strace', '-e', 'trace=open,openat', '-o', $trace];
            PhpScript::run($code, ['keysieve.owner' => $owner, 'error_log' => '/dev/null'], $wrapper);
            return substr_count(file_get_contents($trace), '"/etc/passwd"');
        };
        $ofPhpItself = $lookUps('echo 1;', '0'); // of opcache.preload_user, where the cases run with preloading
        self::assertSame($ofPhpItself, $lookUps('echo 1;'));
        self::assertGreaterThan($ofPhpItself, $lookUps("(new Set('one'))->availability();"));
        // A PHP with threads and assertions reads the file several times for one user.
        foreach (['nobody', 'no-such-user'] as $owner) {
            $one = "(new Set('one'))->availability();";
            self::assertSame($lookUps($one, $owner), $lookUps("$one (new Set('other'))->availability();", $owner));
        }
    }
}
