<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Set;
use KeySieve\Tests\Differential\ControlBytes;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

use function KeySieve\begin_request;

/** What may be wrong with the folder of a set and with its files: every answer is maybe, and one line says why. */
final class FaultyFilesTest extends TestCase
{
    private const STRANGER = 54321;

    /** @return iterable<string, array{\Closure(string, string): mixed, string, string}> what is done to folder and snapshot, state and reason */
    public static function faults(): iterable
    {
        $ofStranger = 'belongs to uid ' . self::STRANGER;
        yield 'a folder of another user' => [static fn (string $folder) => chown($folder, self::STRANGER), 'Missing', "FOLDER: not trusted: it $ofStranger"];
        yield 'a folder that others write to' => [static fn (string $folder) => chmod($folder, 0777), 'Missing', 'FOLDER: not trusted: its group or others may write to it'];
        yield 'a snapshot of another user' => [static fn (string $folder, string $file) => chown($file, self::STRANGER), 'Missing', "FILE: not trusted: it $ofStranger, the folder to uid 0"];
        yield 'a snapshot that others write to' => [static fn (string $folder, string $file) => chmod($file, 0666), 'Missing', 'FILE: not trusted: its group or others may write to it'];
        $anotherPage = static fn (callable $spoil): \Closure => static fn (string $folder) => copy("$folder/control", "$folder/new")
            && $spoil("$folder/new") && rename("$folder/new", "$folder/control"); // a running process looks at another file alone
        yield 'a control page of another user' => [$anotherPage(static fn (string $page) => chown($page, self::STRANGER)), 'Missing', "FOLDER/control: not trusted: it $ofStranger"];
        yield 'a control page that its group writes to' => [$anotherPage(static fn (string $page) => chmod($page, 0660)), 'Missing', 'FOLDER/control: not trusted: its group or others'];
        $ofAbi9 = static fn (string $page): string => (new ControlBytes(file_get_contents($page)))->put('abi_major', 9)->seal()->bytes;
        yield 'a control page of another ABI' => [$anotherPage(static fn (string $page) => file_put_contents($page, $ofAbi9($page))), 'Incompatible', 'FOLDER/control: control page of ABI 9'];
        yield 'a link as control page' => [static fn (string $folder) => unlink("$folder/control") && symlink('lock', "$folder/control"), 'Missing', 'FOLDER/control: Too many levels of symbolic links'];
        yield 'a folder as control page' => [static fn (string $folder) => unlink("$folder/control") && mkdir("$folder/control"), 'Missing', 'FOLDER/control: not trusted: not a regular file'];
        yield 'a pipe as snapshot' => [static fn (string $folder, string $file) => unlink($file) && posix_mkfifo($file, 0600), 'Missing', 'FILE: not trusted: not a regular file'];
        yield 'an empty snapshot' => [static fn (string $folder, string $file) => SharedMemory::overwrite($file, ''), 'Missing', 'FILE: is cut short: 0 bytes'];
        yield 'no snapshot' => [static fn (string $folder, string $file) => unlink($file), 'Missing', 'FILE: No such file or directory'];
        $forged = static fn (array $fields): \Closure => static fn (string $folder, string $file) => SharedMemory::forge($file, ...$fields);
        yield 'a newer format' => [$forged(['format' => 2]), 'Incompatible', 'FILE: has snapshot format 2, this version reads 1: '
            . 'damaged, or written by a newer version; upgrade this reader, or build with --format 1'];
        yield 'an older format' => [$forged(['format' => 0]), 'Incompatible', 'has snapshot format 0, this version reads 1: damaged, or written by an older version; build it again'];
        yield 'a newer kind and layout' => [$forged(['kind' => 200, 'hash_count' => 1, 'shard_bytes' => 16384]), 'Incompatible', 'filter kind 200 is not known to this version'];
        yield 'more keys than the shards have' => [$forged(['key_count' => 2]), 'Missing', 'shard table counts 1 keys, the header 2'];
    }

    /** @return iterable<string, array{0: \Closure(string, string): mixed, 1: string, 2: string, 3?: int}> the same, and keysieve.owner */
    public static function faultsAndOwners(): iterable
    {
        yield 'no fault' => [static fn () => null, 'Ready', ''];
        yield from self::faults();
        yield 'no directory' => [static fn (string $folder) => Program::output(['rm', '-r', dirname($folder)]), 'Missing', 'directory PARENT: No such file or directory'];
        yield 'a file as directory' => [static function (string $folder): void {
            Program::output(['rm', '-r', dirname($folder)]);
            touch(dirname($folder));
        }, 'Missing', 'directory PARENT: Not a directory'];
        yield 'no folder' => [static fn (string $folder) => Program::output(['rm', '-r', $folder]), 'Missing', 'FOLDER: No such file or directory'];
        $give = static fn (string $folder) => Program::output(['chown', '-R', (string) self::STRANGER, $folder]);
        yield 'the owner that is trusted' => [$give, 'Ready', '', self::STRANGER];
        yield 'all rights for everyone' => [
            static fn (string $folder) => $give($folder) . Program::output(['chmod', '-R', 'a+rwX', $folder]), 'Missing', 'not trusted: its group or others may write to it', self::STRANGER,
        ];
        yield 'a file of root for the owner that is trusted' => [
            static fn (string $folder, string $file) => $give($folder) . chown($file, 0), 'Missing', 'FILE: not trusted: it belongs to uid 0, the folder to uid ' . self::STRANGER, self::STRANGER,
        ];
    }

    #[DataProvider('faultsAndOwners')]
    public function testANewProcessAnswersMaybeAndSaysWhyOnce(\Closure $spoil, string $state, string $reason, string|int $owner = ''): void
    {
        self::needsRoot();
        $directory = new Folder('faults');
        Program::keysieve('publish', '--directory', (string) $directory, SharedMemory::build('spoilt', ['apple']));
        $spoil("$directory/spoilt", "$directory/spoilt/0000000000000001.ks");
        $script = <<<'PHP'
            $set = new Set('spoilt');
            echo json_encode([$set->mayContainMany(['apple', 'pear']), $set->mayContain('pear'), $set->availability()->name]);
            PHP;
        foreach (['', 'posix_geteuid,posix_getpwnam'] as $disabled) { // as where PHP has no functions that say who runs it
            $said = PhpScript::run($script, ['keysieve.directory' => (string) $directory, 'keysieve.owner' => $owner, 'disable_functions' => $disabled]);
            $maybe = json_encode($state !== 'Ready');
            self::assertSame("[[true,$maybe],$maybe,\"$state\"]", $said->output, $said->errors);
            self::assertStringContainsString(self::named($reason, "$directory/spoilt", 1), $said->errors);
            self::assertSame($state === 'Ready' ? 0 : 1, substr_count($said->errors, "\n"), $said->errors);
        }
    }

    #[DataProvider('faults')]
    public function testARunningProcessAnswersMaybeUntilItIsMended(\Closure $spoil, string $state, string $reason): void
    {
        self::needsRoot();
        static $number = 0;
        $name = 'mended-' . ++$number;
        SharedMemory::put($name, ['apple']);
        $set = new Set($name);
        self::assertSame([true, false], $set->mayContainMany(['apple', 'pear']));
        SharedMemory::put($name, ['pear']);
        $folder = SharedMemory::folder($name);
        Program::output(['cp', '-a', $folder, "$folder-good"]);
        $spoil($folder, "$folder/0000000000000002.ks");
        for ($request = 0; $request < 3; ++$request) {
            begin_request();
            self::assertSame([true, true], $set->mayContainMany(['apple', 'pear']));
            self::assertSame($state, $set->availability()->name);
            self::assertSame(1, $set->info()->publication);
            self::assertStringContainsString(self::named($reason, $folder, 2), $set->info()->trouble);
        }
        Program::output(['rm', '-r', $folder]);
        rename("$folder-good", $folder);
        self::assertSoon(static function () use ($set): bool {
            begin_request();
            return $set->mayContainMany(['apple', 'pear']) === [false, true];
        });
        self::assertNull($set->info()->trouble);
        $lines = array_values(preg_grep("/ set \"$name\" /", file(ini_get('error_log'))));
        self::assertCount(2, $lines);
        self::assertStringContainsString(self::named($reason, $folder, 2), $lines[0]);
        self::assertStringEndsWith("set \"$name\" is ready again\n", $lines[1]);
    }

    private static function named(string $reason, string $folder, int $publication): string
    {
        return strtr($reason, ['FOLDER' => $folder, 'FILE' => "$folder/000000000000000$publication.ks", 'PARENT' => dirname($folder)]);
    }
}
