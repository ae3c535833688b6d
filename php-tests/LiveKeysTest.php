<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Key;
use KeySieve\Set;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

use function KeySieve\candidate_sets;
use function KeySieve\may_contain;

/** Keys added since the snapshot was built: maybe, by every way of asking, from the next call on. */
final class LiveKeysTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        return AnswersTest::kinds();
    }

    /** @dataProvider kinds */
    public function testAnAddedKeyIsMaybeByEveryWayOfAsking(string $kind): void
    {
        $name = "added-$kind";
        SharedMemory::putWithLayer($name, ['apple'], ['--kind', $kind]);
        $set = new Set($name);
        $keys = ['old' => 'apple', 'new' => 'pear', 'number' => 42, 'object' => new Key('猫'), 'absent' => 'quince'];
        $answers = ['old' => true, 'new' => false, 'number' => false, 'object' => false, 'absent' => false];
        self::assertSame($answers, $set->mayContainMany($keys));

        SharedMemory::addLive($name, 'pear', '42', '猫');
        foreach ($keys as $index => $key) {
            $maybe = $index !== 'absent';
            self::assertSame($maybe, $set->mayContain($key), $index);
            self::assertSame($maybe, may_contain($name, $key), $index);
            self::assertSame($maybe ? [$name] : [], candidate_sets($key, [$name]), $index);
        }
        $answers = ['old' => true, 'new' => true, 'number' => true, 'object' => true, 'absent' => false];
        self::assertSame($answers, $set->mayContainMany($keys));
        self::assertSame(array_diff_key($keys, ['absent' => 1]), $set->candidates($keys));
    }

    public function testInfoCountsLiveKeys(): void
    {
        SharedMemory::putWithLayer('counted-live', ['apple']);
        $set = new Set('counted-live');
        self::assertSame(0, $set->info()->liveKeys);
        SharedMemory::addLive('counted-live', 'pear', 'plum', 'pear');
        self::assertSame(2, $set->info()->liveKeys);
        self::assertSame(1, $set->info()->keyCount, 'of the snapshot');
        SharedMemory::putWithLayer('counted-live', ['apple', 'pear', 'plum']);
        self::assertSoon(static fn (): bool => $set->info()->keyCount === 3);
        self::assertSame(0, $set->info()->liveKeys);
    }

    public function testAddedKeysCountAsMaybeInStats(): void
    {
        SharedMemory::putWithLayer('stats-live', ['apple']);
        SharedMemory::addLive('stats-live', 'pear');
        (new Set('stats-live'))->mayContainMany(['apple', 'pear', 'quince']);
        self::assertSame(
            ['calls' => 1, 'maybe' => 2, 'absent' => 1, 'unavailable' => 0],
            \KeySieve\stats()['stats-live'],
        );
    }
}
