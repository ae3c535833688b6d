<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Set;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

use function KeySieve\candidate_sets;
use function KeySieve\may_contain;

/** What the calls answer, from key list to PHP, for every filter kind. */
final class AnswersTest extends TestCase
{
    public static function setUpBeforeClass(): void
    {
        foreach (self::kinds() as [$kind]) {
            SharedMemory::put("lines-$kind", self::keysInLines(), ['--kind', $kind, '--allow-suspect-keys']);
            SharedMemory::put("nul-$kind", self::nulSeparatedKeys(), ['--kind', $kind, '-0', '--shard-size', '1KiB']);
        }
    }

    #[DataProvider('kinds')]
    public function testNoKeyOfASetIsAbsent(string $kind): void
    {
        $sets = ["lines-$kind" => self::keysInLines(), "nul-$kind" => self::nulSeparatedKeys()];
        foreach ($sets as $name => $keys) {
            $set = new Set($name);
            self::assertSame(Availability::Ready, $set->availability());
            foreach ($keys as $key) {
                self::assertTrue($set->mayContain($key), 'single: ' . substr((string) $key, 0, 40));
            }
            self::assertSame(array_fill(0, count($keys), true), $set->mayContainMany($keys));
            self::assertSame($keys, $set->candidates($keys));
            self::assertSame($kind, $set->info()->kind);
        }
    }

    public function testCandidatesOfAListKeepTheirPlacesHoweverFewTheyAre(): void
    {
        $set = new Set('lines-bloom');
        $absent = array_values(array_filter(self::keys(2_000, 'foreign'), fn ($key) => !$set->mayContain($key)));
        foreach ([1, 2, 3, 4, 5, 20, 64, 65, 1000] as $size) {
            $all = range(0, $size - 1);
            $every = fn (int $step): array => array_filter($all, fn (int $place): bool => $place % $step === 0);
            foreach ([[], [0], [$size - 1], [0, $size - 1], $all, $every(2), $every(5)] as $places) {
                $keys = array_slice($absent, 0, $size);
                foreach ($places as $place) {
                    $keys[$place] = 'app' . strrev('el'); // a string of its own
                }
                $expected = array_intersect_key($keys, array_flip($places));
                $candidates = $set->candidates($keys);
                self::assertSame($expected, $candidates, "$size keys, maybe at " . implode(', ', $places));
                self::assertCount(count($expected), $candidates);
                $candidates[] = $expected[] = 'appended';
                self::assertSame($expected, $candidates);
                unset($keys, $candidates[0], $expected[0]);
                self::assertSame($expected, $candidates, 'its strings outlive the argument');
            }
        }
    }

    public function testCandidateSetsAreThoseThatMayContainTheKey(): void
    {
        SharedMemory::put('fruits', ['apple', 'pear']);
        SharedMemory::put('phones', ['apple', 'pixel'], ['--like', SharedMemory::directory() . '/fruits.ks']);
        $names = ['p' => 'phones', 'f' => 'fruits'];
        self::assertSame(['phones', 'fruits'], candidate_sets($names, 'apple'));
        self::assertSame(['fruits'], candidate_sets($names, 'pear'));
        self::assertSame(['phones'], candidate_sets($names, 'pixel'));
        self::assertSame([], candidate_sets($names, 1));
        self::assertSame([], candidate_sets([], 'apple'));
        self::assertSame(['lines-bloom'], candidate_sets(['fruits', 'lines-bloom', 'phones'], 42), 'other seeds');
        self::assertSame(['never-published', 'fruits'], candidate_sets(['never-published', 'fruits'], 'pear'));
    }

    public function testCandidateSetsMayHaveManySeeds(): void
    {
        $names = array_map(static fn (int $number): string => "seed-$number", range(0, 11));
        array_map(static fn (string $name) => SharedMemory::put($name, ['shared', "own $name"]), $names);
        self::assertSame($names, candidate_sets($names, 'shared'));
        self::assertSame([...$names, ...$names], candidate_sets([...$names, ...$names], 'shared'));
        self::assertSame(['seed-11'], candidate_sets($names, 'own seed-11'));
    }

    #[DataProvider('kinds')]
    public function testAnAddedKeyIsMaybeByEveryWayOfAsking(string $kind): void
    {
        $name = "added-$kind";
        SharedMemory::putWithLayer($name, ['apple'], ['--kind', $kind]);
        $set = new Set($name);
        $keys = ['old' => 'apple', 'new' => 'pear', 'number' => 42, 'kanji' => '猫', 'absent' => 'quince'];
        $answers = ['old' => true, 'new' => false, 'number' => false, 'kanji' => false, 'absent' => false];
        self::assertSame($answers, $set->mayContainMany($keys));

        SharedMemory::addLive($name, 'pear', '42', '猫');
        foreach ($keys as $index => $key) {
            $maybe = $index !== 'absent';
            self::assertSame($maybe, $set->mayContain($key), $index);
            self::assertSame($maybe, may_contain($name, $key), $index);
            self::assertSame($maybe ? [$name] : [], candidate_sets([$name], $key), $index);
        }
        $answers = ['old' => true, 'new' => true, 'number' => true, 'kanji' => true, 'absent' => false];
        self::assertSame($answers, $set->mayContainMany($keys));
        self::assertSame(array_diff_key($keys, ['absent' => 1]), $set->candidates($keys));
    }

    /** @return array<string|int> */
    private static function keysInLines(): array
    {
        $keys = ['apple', '猫', '初音ミク', 'Café', "Cafe\u{301}", ' ', ' spaces ', "tab\t", "\x01", "no UTF-8: \xff\xfe"];
        array_push($keys, 42, 0, -1, 2024, '007', '1e3');
        array_push($keys, PHP_INT_MAX, PHP_INT_MIN, '1.5', '-0', str_repeat('x', 1 << 20), str_repeat('猫', 349_000));
        return [...$keys, ...self::keys(5_000)];
    }

    /** @return string[] */
    private static function nulSeparatedKeys(): array
    {
        return ['', "\n", "line\nbreak", "\r", "ends with CR\r", "cr\r\n", 'apple', ...array_map(strval(...), range(1, 2_000))];
    }
}
