<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\SeenSet;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** What a process keeps of names that come from input, and what becomes of calls for which its memory is too small. */
final class MemoryTest extends TestCase
{
    private const LIST = 'range(0, 199_999)';
    private const TABLE = 'array_flip(array_map(static fn (int $number): string => "key $number", range(0, 99_999)))';
    private const GENERATOR = '(static function () { for ($number = 0; $number < 200_000; ++$number) { yield $number; } })()';

    /** @return iterable<string, array{string, string}> code that makes keys, and code of what asks for them */
    public static function calls(): iterable
    {
        foreach (['a list' => self::LIST, 'a table' => self::TABLE, 'a generator' => self::GENERATOR] as $name => $keys) {
            yield "mayContainMany, $name" => [$keys, '(new KeySieve\Set("limited"))->mayContainMany(...)'];
            yield "candidates, $name" => [$keys, '(new KeySieve\Set("nosuch"))->candidates(...)'];
            yield "addManyIfNew, $name" => [$keys, '(new KeySieve\SeenSet("limited-clicks"))->addManyIfNew(...)'];
            $getMany = 'static fn (iterable $keys): array => (new KeySieve\Map("nosuch"))->getMany($keys, %s)';
            yield "getMany, $name, unknown" => [$keys, sprintf($getMany, 'static fn (): array => []')];
            yield "getMany, $name, merged" => [$keys, sprintf($getMany, 'static fn (array $keys): array => array_fill_keys($keys, 7)')];
        }
        yield 'candidate_sets' => ['array_fill(0, 200_000, "nosuch")', 'static fn (array $names): array => KeySieve\candidate_sets($names, "k")'];
        yield 'LocalFilter' => ['[]', 'static fn (): object => new KeySieve\LocalFilter(5_000_000)'];
    }

    /**
     * It ends as PHP's own functions do: with an error, and with the script's shutdown functions. Some PHPs grant what exceeds the limit, and
     * kill the process at twice the limit. A seen set has no key of a call that ends like this.
     */
    #[DataProvider('calls')]
    #[Group('unsanitized')]
    public function testACallBeyondTheLimitEndsTheScriptAndNotTheProcess(string $keys, string $call): void
    {
        SharedMemory::put('limited', ['apple']);
        $windows = SeenWindows::open('limited-clicks', 400_000);
        $isSeen = (new SeenSet('limited-clicks'))->mayContain(...);
        $kibibytes = str_contains($call, 'SeenSet') ? 512 : 1_536;
        for ($deaths = 0; ; ++$deaths) {
            $script = PhpScript::run(strtr(
                <<<'PHP'
                    register_shutdown_function(static fn () => print('shutdown'));
                    $keys = KEYS;
                    $call = CALL;
                    (new KeySieve\Map('nosuch'))->get('k', static fn () => null);
                    gc_mem_caches();
                    ini_set('memory_limit', memory_get_usage(true) + ROOM);
                    $call($keys);
                    ini_set('memory_limit', -1);
                    echo 'done ';
                    PHP,
                ['KEYS' => $keys, 'CALL' => $call, 'ROOM' => (string) ($deaths * $kibibytes << 10)],
            ), ['memory_limit' => '-1']);
            $where = "with $deaths x $kibibytes KiB: $script->output$script->errors";
            self::assertStringEndsWith('shutdown', $script->output, $where);
            if ($script->status === 0) {
                break;
            }
            self::assertStringContainsString('Allowed memory size', $script->output . $script->errors, $where);
            self::assertSame([], array_filter(range(0, 99_999), $isSeen), $where);
        }
        self::assertStringEndsWith('done shutdown', $script->output, $script->errors);
        self::assertGreaterThan(0, $deaths);
        self::assertCount(str_contains($call, 'SeenSet') ? 100_000 : 0, array_filter(range(0, 99_999), $isSeen));
    }

    #[Group('unsanitized')]
    public function testNamesTakeBoundedMemoryAndLeaveWhatIsReadyAndWhatIsAskedAgain(): void
    {
        SharedMemory::put('ready', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            use function KeySieve\may_contain;
            $held = static fn (): int => preg_match('/^VmData:\s+(\d+)/m', file_get_contents('/proc/self/status'), $found) ? (int) $found[1] : 0;
            may_contain('ready', 'apple');
            $before = 0;
            for ($name = 1; $name <= 5_000; ++$name) {
                may_contain("name-$name", 'apple');
                if ($name % 500 === 0) {
                    may_contain('popular', 'apple');
                    $before = $name <= 1_000 ? $held() : $before;
                }
            }
            echo json_encode([
                count(KeySieve\stats()) <= 1_024,
                KeySieve\stats()['popular']['calls'],
                may_contain('ready', 'pear'),
                KeySieve\stats()['ready']['calls'],
                array_key_last(KeySieve\stats()),
                isset(KeySieve\stats()['name-3900']),
                $held() - $before < 2_048,
            ]);
            PHP, ['error_log' => '/dev/null']);
        self::assertSame(json_encode([true, 10, false, 2, 'name-5000', false, true]), $script->output);
    }

    public function testAnObjectKeepsItsSet(): void
    {
        SharedMemory::put('held', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $make = static fn (int $name): Set => new Set("name-$name");
            $objects = ['held' => new Set('held'), ...array_map($make, range(1, 3_000))];
            $calls = array_map(static fn (Set $set): int => count($set->candidates(['apple', 'pear'])), $objects);
            $answers = [array_sum($calls), count(KeySieve\stats())];
            $objects = [$objects['held'], $objects[0]];
            array_map($make, range(3_001, 4_000));
            echo json_encode([...$answers, count(KeySieve\stats()) <= 1_024, KeySieve\stats()['held']['calls'], KeySieve\stats()['name-1']['calls']]);
            PHP, ['error_log' => '/dev/null']);
        self::assertSame('[6001,3001,true,1,1]', $script->output);
    }

    public function testOneCallMayAskMoreSetsThanAreRemembered(): void
    {
        SharedMemory::put('among-many', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $names = [...array_map(static fn (int $name): string => "name-$name", range(1, 3_000)), 'among-many'];
            $answers = [];
            for ($round = 0; $round < 2; ++$round) {
                $answers[] = count(KeySieve\candidate_sets($names, 'pear'));
            }
            KeySieve\may_contain('name-1', 'pear');
            echo json_encode([...$answers, count(KeySieve\stats())]);
            PHP, ['error_log' => '/dev/null']);
        self::assertSame(json_encode([3_000, 3_000, 897]), $script->output, 'an eighth of 1,024 is free then');
    }
}
