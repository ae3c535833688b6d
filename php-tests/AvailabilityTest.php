<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Set;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

use function KeySieve\candidate_sets;

/** Everything but Ready answers maybe; each state from its real cause. */
final class AvailabilityTest extends TestCase
{
    private const FOREIGN_OWNER = 54321;

    public function testAPublishedSetIsReady(): void
    {
        SharedMemory::put('ready', ['apple']);
        $set = new Set('ready');
        self::assertSame(Availability::Ready, $set->availability());
        self::assertFalse($set->mayContain('pear'));
    }

    public function testAnUnknownSetIsMissing(): void
    {
        $this->assertAnswersMaybe(new Set('unknown'), Availability::Missing);
        self::assertNull((new Set('unknown'))->info());
        self::assertSame(['unknown'], candidate_sets('pear', ['unknown']));
    }

    public function testAMissingDirectoryIsMissing(): void
    {
        self::assertSame("Missing\n", $this->stateInOtherProcess('ready', ['keysieve.directory' => '/nonexistent/keysieve']));
    }

    public function testAFolderWithoutAPublicationIsMissing(): void
    {
        mkdir(SharedMemory::folder('empty'), 02750);
        $this->assertAnswersMaybe(new Set('empty'), Availability::Missing);
    }

    public function testASetPublishedLaterBecomesReady(): void
    {
        $set = new Set('later');
        $this->assertAnswersMaybe($set, Availability::Missing);
        SharedMemory::put('later', ['apple']);
        self::assertTrue($this->reachesWithinOneRequest($set, Availability::Ready));
        self::assertFalse($set->mayContain('pear'));
    }

    public function testASetPastItsValidityIsExpired(): void
    {
        SharedMemory::put('expiring', ['apple'], ['--valid-for', '1h']);
        $clock = new Clock();
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('expiring');
            $say = function () use ($set) {
                echo json_encode([$set->availability()->name, $set->mayContain('pear'), $set->mayContainMany(['x' => 'pear', 3 => 7]),
                    $set->candidates(['x' => 'pear', 3 => 7]), $set->info()->validUntil <= new DateTimeImmutable()]), "\n";
            };
            $say();
            file_put_contents(getenv('FAKETIME_TIMESTAMP_FILE'), (string) (time() + 7_200));
            for ($call = 0; $call < 4_096; ++$call) {
                $set->mayContain('pear');
            }
            $say();
            PHP, environment: $clock->environment());
        self::assertSame(
            '["Ready",false,{"x":false,"3":false},[],false]' . "\n"
                . '["Expired",true,{"x":true,"3":true},{"x":"pear","3":7},true]' . "\n",
            $script->output,
        );
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
        }
        self::assertSame('nfkc-lower', $other->info()->keyProfile);
    }

    public function testASnapshotOfANewerFormatIsIncompatible(): void
    {
        SharedMemory::put('newer', ['apple']);
        $this->changeHeader('newer', static fn (string $header): string => substr_replace($header, pack('v', 99), 8, 2));
        $this->assertAnswersMaybe(new Set('newer'), Availability::Incompatible);
        self::assertNull((new Set('newer'))->info());
    }

    public function testADamagedSnapshotIsMissing(): void
    {
        SharedMemory::put('damaged', ['apple']);
        $this->changeHeader('damaged', static fn (string $header): string => 'X' . substr($header, 1));
        $this->assertAnswersMaybe(new Set('damaged'), Availability::Missing);
    }

    public function testKeysieveEnabledSwitchesAllSetsOff(): void
    {
        SharedMemory::put('ready', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('ready');
            echo json_encode([$set->availability()->name, $set->mayContain('pear'), $set->mayContainMany(['a', 'x' => 'b']),
                $set->candidates(['a', 'x' => 'b']), $set->info(), KeySieve\may_contain('ready', 'pear'),
                KeySieve\candidate_sets('pear', ['ready']), KeySieve\stats()['ready']]);
            try {
                new Set('BAD');
            } catch (ValueError) {
                echo ' names are still checked';
            }
            PHP, ['keysieve.enabled' => 0, 'keysieve.on_unavailable' => 'throw']);
        self::assertSame(
            '["Disabled",true,{"0":true,"x":true},{"0":"a","x":"b"},null,true,["ready"],'
                . '{"calls":5,"maybe":0,"absent":0,"unavailable":7}] names are still checked',
            $script->output,
        );
        self::assertSame('', $script->errors, 'a wish of the operator is nothing to log');
    }

    public function testAFolderOfAForeignOwnerIsNotTrusted(): void
    {
        self::assertSame(0, posix_geteuid(), 'only root can give a folder away');
        SharedMemory::put('foreign', ['apple']);
        $this->giveAway('foreign', self::FOREIGN_OWNER);
        self::assertSame("Missing\n", $this->stateInOtherProcess('foreign'));
        self::assertSame("Missing\n", $this->stateInOtherProcess('foreign', ['keysieve.owner' => 'nobody']));
        self::assertSame("Ready\n", $this->stateInOtherProcess('foreign', ['keysieve.owner' => self::FOREIGN_OWNER]));
    }

    public function testTheOwnerSettingMayBeAName(): void
    {
        SharedMemory::put('named', ['apple']);
        $this->giveAway('named', posix_getpwnam('nobody')['uid']);
        self::assertSame("Missing\n", $this->stateInOtherProcess('named'));
        self::assertSame("Ready\n", $this->stateInOtherProcess('named', ['keysieve.owner' => 'nobody']));
    }

    public function testAWorkerOfTheGroupNeedsNothingButReading(): void
    {
        SharedMemory::put('grouped', ['apple']);
        $code = "echo (new Set('grouped'))->availability()->name;";
        $asNobody = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'];
        self::assertSame('Missing', PhpScript::run($code, wrapper: $asNobody)->output, 'the group is another');
        foreach ([SharedMemory::folder('grouped'), ...glob(SharedMemory::folder('grouped') . '/*')] as $path) {
            $mode = fileperms($path) & 07777;
            chgrp($path, 'nogroup');
            chmod($path, $mode);
        }
        self::assertSame('Ready', PhpScript::run($code, wrapper: $asNobody)->output);
    }

    public function testAFolderThatOthersCanWriteIsNotTrusted(): void
    {
        foreach (['group' => 02770, 'others' => 02757] as $who => $mode) {
            SharedMemory::put("writable-$who", ['apple']);
            chmod(SharedMemory::folder("writable-$who"), $mode);
            $this->assertAnswersMaybe(new Set("writable-$who"), Availability::Missing);
        }
    }

    public function testASymbolicLinkIsNotFollowed(): void
    {
        SharedMemory::put('linked-to', ['apple']);
        symlink(SharedMemory::folder('linked-to'), SharedMemory::folder('link'));
        $this->assertAnswersMaybe(new Set('link'), Availability::Missing);
    }

    private function assertAnswersMaybe(Set $set, Availability $availability): void
    {
        self::assertSame($availability, $set->availability());
        self::assertTrue($set->mayContain('pear'));
        self::assertSame(['x' => true, 3 => true], $set->mayContainMany(['x' => 'pear', 3 => 7]));
        self::assertSame(['x' => 'pear', 3 => 7], $set->candidates(['x' => 'pear', 3 => 7]));
    }

    /** Time counts at every 4,096th call, for workers whose request never ends. */
    private function reachesWithinOneRequest(Set $set, Availability $availability): bool
    {
        return Deadline::reaches(static function () use ($set, $availability): bool {
            for ($call = 0; $call < 4_096; ++$call) {
                $set->mayContain('pear');
            }
            return $set->availability() === $availability;
        });
    }

    /** @param array<string, string|int> $settings */
    private function stateInOtherProcess(string $set, array $settings = []): string
    {
        return PhpScript::run("echo (new Set('$set'))->availability()->name, PHP_EOL;", $settings)->output;
    }

    private function giveAway(string $set, int $owner): void
    {
        foreach ([...glob(SharedMemory::folder($set) . '/*'), SharedMemory::folder($set)] as $path) {
            chown($path, $owner);
        }
    }

    /** @param callable(string): string $change of the published header page; its checksum is made right again */
    private function changeHeader(string $set, callable $change): void
    {
        $file = SharedMemory::folder($set) . '/0000000000000001.ks';
        $bytes = file_get_contents($file);
        $header = substr($change(substr($bytes, 0, 4096)), 0, 4088);
        $checksum = strrev(hash('xxh3', $header, true));
        file_put_contents($file, $header . $checksum . substr($bytes, 4096));
        self::assertSame(strlen($bytes), filesize($file));
    }
}
