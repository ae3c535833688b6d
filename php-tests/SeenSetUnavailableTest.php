<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\SeenSet;
use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\TestCase;
use KeySieve\UnavailableException;
use PHPUnit\Framework\Attributes\DataProvider;

/** What a seen set answers and logs while it cannot know. */
final class SeenSetUnavailableTest extends TestCase
{
    /** Prints what each call answers or throws. */
    private const CALLS = <<<'PHP'
        $set = new KeySieve\SeenSet('unavailable');
        $calls = [
            fn () => $set->addIfNew('apple'),
            fn () => $set->addIfNew('apple'),
            fn () => $set->addManyIfNew(['x' => 'apple', 7 => 'apple', 'y' => 'pear']),
            fn () => $set->addManyIfNew(range(1, 100)) === array_fill(0, 100, $set->addIfNew('apple')),
            fn () => $set->mayContain('apple'),
            fn () => $set->info(),
        ];
        foreach ($calls as $call) {
            try {
                echo json_encode($call()), ' ';
            } catch (UnavailableException $exception) {
                echo "{$exception->set} {$exception->availability->name}: {$exception->getMessage()}\n";
            }
        }
        echo $set->availability()->name;
        PHP;

    /** @return iterable<string, array{string, string}> on_unavailable, and what the calls answer */
    public static function choices(): iterable
    {
        $thrown = 'unavailable Missing: seen set "unavailable" is missing (PAGE: has no filter yet: keysieve status says why)' . "\n";
        yield 'new' => ['new', 'true true {"x":true,"7":true,"y":true} true true null Missing', 'every key is new'];
        yield 'seen' => ['seen', 'false false {"x":false,"7":false,"y":false} true true null Missing', 'every key is seen'];
        yield 'throw' => ['throw', str_repeat($thrown, 5) . 'null Missing', 'every call throws'];
    }

    #[DataProvider('choices')]
    public function testAnswersAsItsConfigurationSaysAndLogsItOnce(string $onUnavailable, string $answers, string $effect): void
    {
        $windows = SeenWindows::restoring('unavailable', $onUnavailable);
        $page = $windows->folder() . '/page';
        $script = PhpScript::run(self::CALLS);
        self::assertSame(str_replace('PAGE', $page, $answers), $script->output);
        $reason = "seen set \"unavailable\" is missing ($page: has no filter yet: keysieve status says why)";
        self::assertSame("keysieve: $reason: $effect\n", $script->errors);
    }

    /** @return iterable<string, array{string, string}> on_unavailable, and what the calls answer */
    public static function disabled(): iterable
    {
        yield 'new' => ['new', 'true true {"x":true,"7":true,"y":true} true true null Disabled'];
        yield 'seen' => ['seen', 'false false {"x":false,"7":false,"y":false} true true null Disabled'];
        yield 'throw' => ['throw', 'true true {"x":true,"7":true,"y":true} true true null Disabled'];
    }

    #[DataProvider('disabled')]
    public function testKeysieveEnabledSwitchesItOffWithoutALine(string $onUnavailable, string $answers): void
    {
        $windows = SeenWindows::open('unavailable', onUnavailable: $onUnavailable);
        $script = PhpScript::run(self::CALLS, ['keysieve.enabled' => 0]);
        self::assertSame([$answers, ''], [$script->output, $script->errors]);
        self::assertTrue((new SeenSet('unavailable'))->addIfNew('apple'), 'nothing was added');
    }

    /** @return iterable<string, array{callable(string): mixed, string}> what is done to the folder, and the reason */
    public static function untrusted(): iterable
    {
        yield 'the folder of another user' => [static fn (string $folder) => chown($folder, 54321), 'not trusted: it belongs to uid 54321'];
        yield 'a folder that others may write to' => [static fn (string $folder) => chmod($folder, 0777), 'not trusted: its group or others may write to it'];
        yield 'the page of another user' => [static fn (string $folder) => chown("$folder/page", 54321), 'not trusted: it belongs to uid 54321'];
    }

    /** @param callable(string): mixed $spoil */
    #[DataProvider('untrusted')]
    public function testAFolderThatIsNotTrustedIsMissing(callable $spoil, string $reason): void
    {
        self::needsRoot();
        $windows = SeenWindows::open('untrusted');
        $spoil($windows->folder());
        $set = new SeenSet('untrusted');
        \KeySieve\begin_request();
        self::assertSame(Availability::Missing, $set->availability());
        self::assertThrows(UnavailableException::class, $reason, static fn () => $set->addIfNew('apple'));
        self::assertThrows(UnavailableException::class, $reason, static fn () => $set->mayContain('apple'));
        chown($windows->folder(), 0);
        chmod($windows->folder(), 0750);
        chown($windows->folder() . '/page', 0);
        \KeySieve\begin_request();
        self::assertTrue($set->addIfNew('apple'));
    }

    public function testEveryChangeIsLoggedOnce(): void
    {
        $windows = SeenWindows::open('changing', onUnavailable: 'seen');
        $script = PhpScript::run(<<<'PHP'
            $set = new KeySieve\SeenSet('changing');
            $directory = get_cfg_var('keysieve.directory');
            $change = fn (string $what) => exec(getenv('KEYSIEVE_BIN_DIR') . "/seen_windows $directory changing $what");
            foreach (['restore seen', 'open 10000 1e-6', 'open 10000 1e-6'] as $what) {
                for ($call = 0; $call < 5_000; ++$call) {
                    $answers[] = $set->addIfNew($call);
                }
                $change($what);
                KeySieve\begin_request();
            }
            $answers[] = $set->addIfNew(0);
            echo json_encode(array_count_values(array_map('intval', $answers)));
            PHP);
        self::assertSame('{"1":10001,"0":5000}', $script->output);
        $page = $windows->folder() . '/page';
        self::assertSame(
            "keysieve: seen set \"changing\" is missing ($page: has no filter yet: keysieve status says why): every key is seen\n"
                . "keysieve: seen set \"changing\" is ready again\n",
            $script->errors,
        );
    }

    /** The loader takes the filters away while a process adds batches, most likely in the middle of one. */
    public function testABatchIsAnsweredAsFarAsTheSetWasThere(): void
    {
        $folder = new Folder('batch');
        file_put_contents("$folder/add.php", <<<'PHP'
            <?php
            $set = new KeySieve\SeenSet('interrupted');
            for ($first = 0; $set->availability()->name === 'Ready'; $first = ($first + 50_000) % 3_000_000) {
                $isNew = $set->addManyIfNew(range($first, $first + 49_999));
                echo "added\n";
            }
            $lost = array_search(false, array_slice($isNew, 0, array_key_last(array_filter($isNew)) ?? 0), true);
            echo json_encode(['new' => count(array_filter($isNew)), 'lost' => $lost, 'log' => file_get_contents(ini_get('error_log'))]);
            PHP);
        do {
            $windows = null; // before the next one is opened, whose memory it would remove
            $windows = SeenWindows::open('interrupted', 5_000_000, 1e-6, 'seen');
            file_put_contents("$folder/log", '');
            file_put_contents("$folder/output", '');
            $process = new Background($folder, [...PhpScript::interpreter(['error_log' => "$folder/log"]), "$folder/add.php"]);
            self::assertSoon(static fn (): bool => $process->output() !== '');
            $windows = SeenWindows::restoring('interrupted', 'seen');
            self::assertSame(0, $process->status(), $process->output());
            $said = json_decode(preg_replace('/^(added\n)+/', '', $process->output()), true, flags: JSON_THROW_ON_ERROR);
            self::assertSame(1, substr_count($said['log'], "\n"), $said['log']);
        } while ($said['new'] === 0 || $said['new'] === 50_000); // it was between two batches
        self::assertFalse($said['lost'], 'one after another');
    }
}
