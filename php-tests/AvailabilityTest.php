<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Set;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

/** Everything but Ready answers maybe. Each state comes from a cause of its own; the others are in tests/core/shm. */
final class AvailabilityTest extends TestCase
{
    public function testASetPastItsValidityIsExpired(): void
    {
        SharedMemory::put('expiring', ['apple']);
        SharedMemory::forge(SharedMemory::folder('expiring') . '/0000000000000001.ks', valid_for: 1);
        self::assertSoon(static fn (): bool => (new Set('expiring'))->availability() === Availability::Expired);
        $this->assertAnswersMaybe(new Set('expiring'), Availability::Expired);
        self::assertLessThanOrEqual(new \DateTimeImmutable(), (new Set('expiring'))->info()->validUntil);
    }

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

    public function testTheOwnerThatIsTrustedMayBeNamed(): void
    {
        self::needsRoot();
        SharedMemory::put('foreign', ['apple']);
        Program::output(['chown', '-R', 'nobody', SharedMemory::folder('foreign')]);
        foreach (['' => 'Missing', 'daemon' => 'Missing', 'nobody' => 'Ready'] as $trusted => $state) {
            $script = PhpScript::run("echo (new Set('foreign'))->availability()->name;", ['keysieve.owner' => $trusted]);
            self::assertSame($state, $script->output, $trusted);
        }
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

    private function assertAnswersMaybe(Set $set, Availability $availability): void
    {
        self::assertSame($availability, $set->availability());
        self::assertTrue($set->mayContain('pear'));
        self::assertSame(['x' => true, 3 => true], $set->mayContainMany(['x' => 'pear', 3 => 7]));
        self::assertSame(['x' => 'pear', 3 => 7], $set->candidates(['x' => 'pear', 3 => 7]));
    }
}
