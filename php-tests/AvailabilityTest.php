<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Set;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Everything but Ready answers maybe. Each state comes from a cause of its own; the others are in tests/core/shm. One line tells the
 * operator, and there is an exception where the setting asks for one.
 */
final class AvailabilityTest extends TestCase
{
    #[Group('unsanitized')]
    public function testAProcessThatAsksRarelyNoticesAnExpiryAtItsNextCall(): void
    {
        SharedMemory::put('rarely', ['apple'], ['--valid-for', '1h']);
        $clock = new Clock();
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('rarely');
            $expiresAt = $set->info()->validUntil->getTimestamp();
            for ($second = 0; $second < 3_602; ++$second) {
                $maybes[time() - $expiresAt] = $set->mayContain('pear');
                fwrite(fopen(getenv('FAKETIME_TIMESTAMP_FILE'), 'c'), (string) (time() + 1));
            }
            echo json_encode([count($maybes), array_search(true, $maybes)]);
            PHP, environment: $clock->environment());
        self::assertSame('[3602,0]', $script->output, $script->errors);
    }

    /** As RoadRunner, Swoole and FrankenPHP's worker mode serve: for the extension all of it is one request of PHP. */
    #[Group('unsanitized')]
    public function testAServerThatSaysWhereARequestBeginsFollowsAtOnce(): void
    {
        SharedMemory::put('served', ['apple'], ['--valid-for', '1h']);
        $clock = new Clock();
        $script = PhpScript::run(<<<'PHP'
            $directory = get_cfg_var('keysieve.directory');
            $keysieve = function (string ...$arguments): void { // by the real clock, to which this process's is ahead
                $command = [getenv('KEYSIEVE_BIN_DIR') . '/keysieve', ...$arguments];
                proc_close(proc_open($command, [1 => ['file', '/dev/null', 'w']], $pipes, env_vars: []));
            };
            $later = fn (int $seconds) => fwrite(fopen(getenv('FAKETIME_TIMESTAMP_FILE'), 'c'), (string) (time() + $seconds));
            $set = new Set('served');
            $serve = function () use ($set): void {
                KeySieve\begin_request();
                echo array_sum($set->mayContainMany(range(1, 20))), $set->availability()->name, ' ';
                for ($call = 0; $call < 20; ++$call) {
                    $set->mayContain($call);
                }
            };
            array_map($serve, range(1, 3));
            $later(3_600);
            $serve();
            $keysieve('build', '--set', 'served', '--fpr', '0.001', '--valid-for', '9h', "$directory/served.keys", '-o', "$directory/new.ks");
            $keysieve('publish', '--directory', $directory, "$directory/new.ks");
            $later(1);
            $serve();
            $keysieve('bypass', '--directory', $directory, 'served', '--for', '90m');
            $serve();
            $later(3_600);
            $serve();
            rename("$directory/served", "$directory/served-away");
            $keysieve('publish', '--directory', $directory, "$directory/new.ks");
            $later(1);
            $serve();
            echo $set->info()->publication;
            PHP, environment: $clock->environment());
        self::assertSame('0Ready 0Ready 0Ready 20Expired 0Ready 20Bypassed 0Ready 0Ready 1', $script->output, $script->errors);
    }

    public function testBypassHoldsFromTheNextCallUntilItIsSwitchedOff(): void
    {
        SharedMemory::put('bypassed', ['apple']);
        $set = new Set('bypassed');
        for ($round = 0; $round < 3; ++$round) {
            self::assertFalse($set->mayContain('pear'));
            SharedMemory::bypass('bypassed');
            self::assertTrue($set->mayContain('pear'));
            $this->assertAnswersMaybe($set, Availability::Bypassed);
            self::assertTrue((new Set('bypassed', throw: true))->mayContain('pear'), 'as the operator wishes');
            self::assertSame(1, $set->info()->publication, 'what is attached stays so');
            self::assertSame('bypassed by an operator of this host', $set->info()->trouble);
            SharedMemory::bypass('bypassed', '--off');
        }
        self::assertFalse($set->mayContain('pear'));
    }

    public function testAnotherKeyProfileIsIncompatibleForThatObjectAlone(): void
    {
        SharedMemory::put('profiled', ['apple'], ['--key-profile', 'nfkc-lower']);
        $other = new Set('profiled', 'raw');
        $same = new Set('profiled', 'nfkc-lower');
        $any = new Set('profiled');
        $this->assertAnswersMaybe($other, Availability::Incompatible);
        $this->assertAnswersMaybe(new Set('profiled', ''), Availability::Incompatible);
        foreach ([$same, $any] as $set) {
            self::assertSame(Availability::Ready, $set->availability());
            self::assertFalse($set->mayContain('pear'));
            self::assertNull($set->info()->trouble);
        }
        self::assertSame('nfkc-lower', $other->info()->keyProfile);
        self::assertSame('built with key profile "nfkc-lower", not "raw"', $other->info()->trouble);
    }

    /** A wish of the operator is nothing to log, and nothing to throw. */
    public function testKeysieveEnabledSwitchesAllSetsAndMapsOff(): void
    {
        SharedMemory::put('ready', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('ready');
            echo json_encode([$set->availability()->name, $set->mayContain('pear'), $set->mayContainMany(['a', 'x' => 'b']),
                $set->candidates(['a', 'x' => 'b']), $set->info(), KeySieve\may_contain('ready', 'pear'),
                KeySieve\candidate_sets(['ready'], 'pear'), KeySieve\stats()['ready']]);
            $map = new KeySieve\Map('ready');
            echo json_encode([$map->availability(), $map->info(), $map->get('apple', fn () => 8), $map->getMany(['apple'], fn ($keys) => array_flip($keys))]);
            $seen = new KeySieve\SeenSet('nowhere');
            echo json_encode([$seen->availability(), $seen->info(), $seen->addIfNew('a'), $seen->addManyIfNew(['x' => 'a', 7 => 'a']), $seen->mayContain('a')]);
            try {
                new Set('BAD');
            } catch (ValueError) {
                echo ' names are still checked';
            }
            PHP, ['keysieve.enabled' => 0, 'keysieve.on_unavailable' => 'throw']);
        self::assertSame(
            '["Disabled",true,{"0":true,"x":true},{"0":"a","x":"b"},null,true,["ready"],'
                . '{"calls":5,"maybe":0,"absent":0,"unavailable":7}]'
                . '["disabled",null,8,{"apple":0}]["disabled",null,true,{"x":true,"7":true},true] names are still checked',
            $script->output,
        );
        self::assertSame('', $script->errors);
    }

    /** PHP takes words for on, and numbers as C's atoi() reads them. */
    public function testKeysieveEnabledIsReadAsPhpReadsSuchSettings(): void
    {
        SharedMemory::put('ready', ['apple']);
        $states = [];
        foreach (['on', '"True"', '"YES"', '2', '-1', '" 1"', '1x', 'foo', '"yes!"', '" on"', '0.5', '00', '0x1', '""'] as $value) {
            $states[] = PhpScript::run("echo (new Set('ready'))->availability()->name;", ['keysieve.enabled' => $value])->output;
        }
        self::assertSame([...array_fill(0, 7, 'Ready'), ...array_fill(0, 7, 'Disabled')], $states);
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

    public function testEveryChangeIsLoggedOnce(): void
    {
        SharedMemory::put('changing-state', ['apple'], ['--key-profile', 'raw']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('changing-state');
            $bypass = getenv('KEYSIEVE_BIN_DIR') . '/keysieve bypass --directory ' . get_cfg_var('keysieve.directory') . ' changing-state';
            set_error_handler(function () { echo 'a PHP warning'; });
            $ask = function () use ($set) {
                for ($call = 0; $call < 5_000; ++$call) {
                    $set->mayContain('apple');
                    (new Set('nowhere'))->mayContain('apple');
                    KeySieve\may_contain('nowhere', $call);
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
        $nowhere = SharedMemory::folder('nowhere');
        self::assertSame('', $script->output);
        self::assertSame(<<<TEXT
            keysieve: set "nowhere" is missing ($nowhere: No such file or directory): every lookup answers maybe
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

    /** Names may come from another host; php-fpm looks before a worker may be in a chroot (FpmTest). */
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

    private function assertAnswersMaybe(Set $set, Availability $availability): void
    {
        self::assertSame($availability, $set->availability());
        self::assertTrue($set->mayContain('pear'));
        self::assertSame(['x' => true, 3 => true], $set->mayContainMany(['x' => 'pear', 3 => 7]));
        self::assertSame(['x' => 'pear', 3 => 7], $set->candidates(['x' => 'pear', 3 => 7]));
    }
}
