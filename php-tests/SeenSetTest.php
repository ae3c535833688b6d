<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\SeenSet;
use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\CoerciveCalls;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use KeySieve\UnavailableException;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\Attributes\RequiresFunction;

/** Sets that PHP itself fills: what is new, what was seen, and what they answer and log while they cannot know. */
final class SeenSetTest extends TestCase
{
    /** Prints what each call answers or throws while the set cannot know. */
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

    public function testConvertsASingleKeyAsPhpDoesForStringOrIntAndNoElement(): void
    {
        $windows = SeenWindows::open('converted');
        [$add, $addMany] = [(new SeenSet('converted'))->addIfNew(...), (new SeenSet('converted'))->addManyIfNew(...)];
        self::assertTrue(CoerciveCalls::to($add, 1.0));
        self::assertFalse(CoerciveCalls::to($add, true));
        self::assertThrows(\TypeError::class, 'float given at index "b"', static fn () => CoerciveCalls::to($addMany, ['a' => '2', 'b' => 2.5]));
        self::assertSame([true, false], CoerciveCalls::to($addMany, ['2', '1']));
    }

    #[RequiresFunction('pcntl_fork')]
    public function testAForkedProcessGoesOnWithTheSet(): void
    {
        $windows = SeenWindows::open('forked');
        $script = PhpScript::run(<<<'PHP'
            $set = new KeySieve\SeenSet('forked');
            $set->addIfNew('parent');
            if ($child = pcntl_fork()) {
                pcntl_waitpid($child, $status);
                echo json_encode($set->addManyIfNew(['parent', 'child', 'both']));
            } else {
                echo json_encode($set->addManyIfNew(['parent', 'child']));
            }
            PHP);
        self::assertSame('[false,true][false,false,true]', $script->output, $script->errors);
    }

    #[Group('unsanitized')]
    public function testAKeyThatRunsOutOfMemoryStaysNew(): void
    {
        $windows = SeenWindows::open('tight');
        $script = PhpScript::run(<<<'PHP'
            $set = new KeySieve\SeenSet('tight');
            $set->availability();
            $half = str_repeat('k', 1 << 21);
            ini_set('memory_limit', memory_get_usage(true) + (1 << 20));
            $set->addIfNew($half . $half);
            PHP);
        self::assertStringContainsString('Allowed memory size', $script->output . $script->errors);
        self::assertTrue((new SeenSet('tight'))->addIfNew(str_repeat('k', 1 << 22)));
    }

    #[Group('unsanitized')]
    public function testAShutdownFunctionAddsAfterTheMemoryRanOut(): void
    {
        $windows = SeenWindows::open('tight');
        $script = PhpScript::run(<<<'PHP'
            $set = new KeySieve\SeenSet('tight');
            register_shutdown_function(static fn () => print(json_encode([$set->addIfNew('apple'), $set->addManyIfNew(['apple', 'pear'])])));
            ini_set('memory_limit', memory_get_usage(true) + (1 << 20));
            $memory = str_repeat('k', 1 << 21);
            PHP);
        self::assertStringContainsString('Allowed memory size', $script->output);
        self::assertStringEndsWith('[true,[false,true]]', $script->output);
    }

    public function testInfoDescribesTheWindows(): void
    {
        $before = time();
        $windows = SeenWindows::open('described', 1_000, 1e-4, 'seen');
        $set = new SeenSet('described');
        self::assertNull($set->info()->lookedAt, 'no loader has');
        $set->addManyIfNew(self::keys(1_000, 'old'));
        $windows->append();
        $set->addManyIfNew(self::keys(500, 'new'));
        $windows->grow();
        $set->addManyIfNew(self::keys(300, 'newer'));
        $info = $set->info();
        self::assertSame([2, 3, 3_000], [$info->windows, $info->filters, $info->windowCapacity]);
        self::assertEqualsWithDelta(800, $info->estimatedWindowKeys, 25, 'of the newest window');
        self::assertSame(0, $info->sizeBytes % (4_096 + 256), 'shards, and a byte for each word');
        self::assertSame('seen', $info->onUnavailable);
        self::assertEqualsWithDelta(2.5e-4, $info->targetFalsePositiveRate, 1e-9);
        self::assertGreaterThan(0.0, $info->estimatedFalsePositiveRate);
        self::assertLessThan(2.5e-4, $info->estimatedFalsePositiveRate);
        self::assertEqualsWithDelta($before, $info->oldestBeginsAt->getTimestamp(), time() - $before);
        self::assertSame(600, $info->windowBeginsAt->getTimestamp() - $info->oldestBeginsAt->getTimestamp());
        self::assertSame(600, $info->windowEndsAt->getTimestamp() - $info->windowBeginsAt->getTimestamp());
        self::assertSame('+00:00', $info->windowBeginsAt->getTimezone()->getName());
        self::assertEqualsWithDelta($before, $info->lookedAt->getTimestamp(), time() - $before);
    }

    /** A worker of another user reads the page and writes to the filters as a member of their group. */
    public function testAWorkerServesSitesEachFromItsOwnDirectory(): void
    {
        $directories = array_map(static fn (string $site): string => SharedMemory::directory() . "-seen-$site", ['a', 'b']);
        $windows = array_map(static function (string $directory): SeenWindows {
            mkdir($directory);
            chgrp($directory, 'nogroup');
            return SeenWindows::open('site', directory: $directory);
        }, $directories);
        $page = 'echo json_encode([(new KeySieve\SeenSet("site"))->addManyIfNew(["apple", "pear"]), getmypid()]);';
        $pool = new FpmPool($page, ['pages' => ['pm.max_children' => '1']], user: 'nobody');
        foreach ([[true, true], [false, false]] as $expected) {
            foreach ($directories as $directory) {
                $body = $pool->request(parameters: ['PHP_ADMIN_VALUE' => "keysieve.directory=$directory"])->body();
                [$answers, $workers[]] = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
                self::assertSame($expected, $answers, $directory);
            }
        }
        self::assertCount(1, array_unique($workers));
    }

    /** @return iterable<string, array{string, string, string}> on_unavailable, what the calls answer, and what is logged */
    public static function choices(): iterable
    {
        $thrown = 'unavailable Missing: seen set "unavailable" is missing (PAGE: has no filter yet: the log of keysieved says why)' . "\n";
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
        $reason = "seen set \"unavailable\" is missing ($page: has no filter yet: the log of keysieved says why)";
        self::assertSame("keysieve: $reason: $effect\n", $script->errors);
    }

    public function testKeysieveEnabledSwitchesItOffWithoutALine(): void
    {
        $new = 'true true {"x":true,"7":true,"y":true} true true null Disabled';
        $seen = 'false false {"x":false,"7":false,"y":false} true true null Disabled';
        foreach (['new' => $new, 'seen' => $seen, 'throw' => $new] as $onUnavailable => $answers) {
            $windows = null; // before the next one is opened, whose memory it would remove
            $windows = SeenWindows::open('unavailable', onUnavailable: $onUnavailable);
            $script = PhpScript::run(self::CALLS, ['keysieve.enabled' => 0]);
            self::assertSame([$answers, ''], [$script->output, $script->errors], $onUnavailable);
            self::assertTrue((new SeenSet('unavailable'))->addIfNew('apple'), "$onUnavailable: nothing was added");
        }
    }

    public function testAFolderThatIsNotTrustedIsMissing(): void
    {
        $windows = SeenWindows::open('untrusted');
        chmod($windows->folder(), 0777);
        $set = new SeenSet('untrusted');
        \KeySieve\begin_request();
        self::assertSame(Availability::Missing, $set->availability());
        foreach ([static fn () => $set->addIfNew('apple'), static fn () => $set->mayContain('apple')] as $call) {
            self::assertThrows(UnavailableException::class, 'not trusted: its group or others may write to it', $call);
        }
        chmod($windows->folder(), 0750);
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
            "keysieve: seen set \"changing\" is missing ($page: has no filter yet: the log of keysieved says why): every key is seen\n"
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
