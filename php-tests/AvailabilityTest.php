<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Set;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Forgery;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use function KeySieve\candidate_sets;

/** Everything but Ready answers maybe. Each state comes from a cause of its own; the others are in tests/core/shm. */
final class AvailabilityTest extends TestCase
{
    public function testAnUnknownSetIsMissing(): void
    {
        $this->assertAnswersMaybe(new Set('unknown'), Availability::Missing);
        self::assertNull((new Set('unknown'))->info());
        self::assertSame(['unknown'], candidate_sets(['unknown'], 'pear'));
    }

    #[Group('unsanitized')]
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
            fwrite(fopen(getenv('FAKETIME_TIMESTAMP_FILE'), 'c'), (string) (time() + 7_200));
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

    public function testASetOfAnotherUserIsMissingUnlessTheSettingNamesTheUser(): void
    {
        self::needsRoot();
        foreach ([54321 => 54321, posix_getpwnam('nobody')['uid'] => 'nobody'] as $owner => $setting) {
            SharedMemory::put("foreign-$owner", ['apple']);
            Program::output(['chown', '-R', (string) $owner, SharedMemory::folder("foreign-$owner")]);
            foreach (['' => 'Missing', 'daemon' => 'Missing', $setting => 'Ready'] as $trusted => $state) {
                $script = "echo (new Set('foreign-$owner'))->availability()->name;";
                self::assertSame($state, PhpScript::run($script, ['keysieve.owner' => $trusted])->output, "$owner, trusted: \"$trusted\"");
            }
        }
    }

    /** @return iterable<string, array{\Closure(string, string): mixed, string|int, string, string}> what was done to folder and snapshot, keysieve.owner, state, reason */
    public static function rights(): iterable
    {
        $nobody = posix_getpwnam('nobody')['uid'];
        $everyFile = static fn (string $folder): array => [$folder, ...glob("$folder/*")];
        $give = static fn (string $folder) => array_map(static fn (string $path) => chown($path, $nobody), $everyFile($folder));
        yield 'none' => [static fn () => null, '', 'Ready', ''];
        yield 'all for everyone' => [static function (string $folder) use ($everyFile, $give): void {
            $give($folder);
            array_map(static fn (string $path) => chmod($path, is_dir($path) ? 0777 : 0666), $everyFile($folder));
        }, $nobody, 'Missing', 'not trusted: its group or others may write to it'];
        yield 'another owner' => [$give, '', 'Missing', "not trusted: it belongs to uid $nobody"];
        yield 'the trusted owner' => [$give, $nobody, 'Ready', ''];
        yield 'a folder that others write to' => [static fn (string $folder) => chmod($folder, 0777), '', 'Missing', 'may write to it'];
        yield 'a file that others write to' => [static fn (string $folder, string $file) => chmod($file, 0666), '', 'Missing', 'may write to it'];
        yield 'a file of another owner' => [
            static fn (string $folder, string $file) => chown($file, $nobody), $nobody, 'Missing', "belongs to uid $nobody, the folder to uid 0",
        ];
    }

    /** As where PHP has no functions that say who runs it. */
    #[DataProvider('rights')]
    public function testOwnersAndRightsAreCheckedWithoutThePosixFunctions(\Closure $change, string|int $owner, string $state, string $reason): void
    {
        self::needsRoot();
        SharedMemory::put('rights', ['apple']);
        $folder = SharedMemory::folder('rights');
        $files = glob("$folder/*.ks");
        $change($folder, end($files));
        $settings = ['keysieve.owner' => $owner, 'disable_functions' => 'posix_geteuid,posix_getpwnam'];
        $script = PhpScript::run("echo (new Set('rights'))->availability()->name;", $settings);
        Program::output(['rm', '-r', $folder]);
        self::assertSame($state, $script->output, $script->errors);
        self::assertStringContainsString($reason, $script->errors);
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

    /** @return iterable<string, array{string, int, string, string}> a kind, an offset in its snapshot, what is there, and the reason */
    public static function forgeries(): iterable
    {
        yield 'more keys than the shards have' => ['bloom', 40, pack('P', 301), 'shard table counts 300 keys, the header 301'];
        foreach ([1 => [0, 16, 16], 2 => [31, 10, 16], 3 => [16, 31, 16], 4 => [16, 16, 31]] as $quarter => [$first, $second, $third]) {
            $levels = pack('v', $first | $second << 5 | $third << 10);
            $reason = 'entry of shard 0 cannot be: a quarter of its line ends before it begins';
            yield "a ribbon whose quarter $quarter ends before it begins" => ['ribbon', 4096 + 6, $levels, $reason];
        }
    }

    #[DataProvider('forgeries')]
    public function testAForgedTableMeansMaybe(string $kind, int $offset, string $bytes, string $reason): void
    {
        SharedMemory::put("forged-$kind", self::keys(300), ['--kind', $kind, '--shard-size', '1KiB', '--fpr', '0.01']);
        $files = glob(SharedMemory::folder("forged-$kind") . '/*.ks');
        SharedMemory::overwrite(end($files), Forgery::of(file_get_contents(end($files)), $offset, $bytes));
        $script = PhpScript::run("\$set = new Set('forged-$kind'); echo json_encode([\$set->availability()->name, \$set->mayContainMany(['key 1', 'pear'])]);");
        self::assertSame('["Missing",[true,true]]', $script->output);
        self::assertStringContainsString($reason, $script->errors);
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

    public function testKeysieveEnabledSwitchesAllSetsOff(): void
    {
        SharedMemory::put('ready', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('ready');
            echo json_encode([$set->availability()->name, $set->mayContain('pear'), $set->mayContainMany(['a', 'x' => 'b']),
                $set->candidates(['a', 'x' => 'b']), $set->info(), KeySieve\may_contain('ready', 'pear'),
                KeySieve\candidate_sets(['ready'], 'pear'), KeySieve\stats()['ready']]);
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
    public function testPhpinfoSaysThatAllSetsAreOff(): void
    {
        $script = PhpScript::run("(new ReflectionExtension('keysieve'))->info();", ['keysieve.enabled' => 0]);
        self::assertStringContainsString('keysieve support => disabled', $script->output);
    }

    private function assertAnswersMaybe(Set $set, Availability $availability): void
    {
        self::assertSame($availability, $set->availability());
        self::assertTrue($set->mayContain('pear'));
        self::assertSame(['x' => true, 3 => true], $set->mayContainMany(['x' => 'pear', 3 => 7]));
        self::assertSame(['x' => 'pear', 3 => 7], $set->candidates(['x' => 'pear', 3 => 7]));
    }
}
