<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

/** Names of sets that come from input: a process remembers 1,024, and then forgets those that it does not need. */
final class BoundedStateTest extends TestCase
{
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
