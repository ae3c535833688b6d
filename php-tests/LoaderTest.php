<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Set;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

use function KeySieve\candidate_sets;

/**
 * The whole way of the data: key list, snapshot, LMDB, the real keysieved, shared memory, PHP. Sets are asked all the while,
 * and no key of theirs is absent at any moment, neither one of the list nor one that was added since.
 */
final class LoaderTest extends TestCase
{
    private const NUMBERS = 1_000;
    private const ROTATED = ['rotated-a', 'rotated-b'];

    private Loader $loader;
    private int $lookups = 0;
    /** @var array<string, string[]> by set */
    private array $keys = [];

    protected function tearDown(): void
    {
        unset($this->loader);
    }

    /** As docs/build_sets.md says. */
    public function testNoKeyIsAbsentWhileASetMovesThroughAllKinds(): void
    {
        $this->start('moved-on');
        $set = new Set('moved-on');
        foreach ([...SharedMemory::kinds(), 'split_block_bloom'] as $kind) {
            $this->add('moved-on', "added before $kind");
            $this->renew('moved-on', '--kind', $kind);
            $this->renew('moved-on'); // the nightly build, which names no kind, keeps it
            self::assertSame($kind, $set->info()->kind);
            self::assertLessThan(0.05, self::shareOfWrongMaybes($set), $kind);
        }
    }

    /** Each set keeps its own seed until it is built again. */
    #[Group('faults')]
    public function testNoKeyIsAbsentWhileTheSeedIsRenewed(): void
    {
        $rounds = Soak::rounds(1, 20);
        $this->start(...self::ROTATED);
        for ($round = 1; $round <= $rounds; ++$round) {
            foreach (self::ROTATED as $set) {
                $this->add($set, "added $round");
            }
            $before = $this->seed();
            $renewed = $this->seed('--new');
            self::assertNotSame($before['seed'], $renewed['seed']);
            self::assertSame(self::ROTATED, $renewed['sets_of_other_seeds']);
            foreach (self::ROTATED as $index => $set) {
                $this->renew($set);
                self::assertSame(array_slice(self::ROTATED, $index + 1), $this->seed()['sets_of_other_seeds']);
            }
        }
        Soak::report("the seed of two sets renewed $rounds times under keysieved: " . number_format($this->lookups)
            . ' lookups, none of them wrong');
    }

    /** Starts keysieved with sets of the same numbers, and waits until they are published. */
    private function start(string ...$names): void
    {
        $this->loader = new Loader($names);
        foreach ($names as $name) {
            $this->renew($name);
            $this->keys[$name] = array_map(strval(...), range(1, self::NUMBERS));
        }
    }

    /** Adds a key and asks until it is maybe. */
    private function add(string $set, string $key): void
    {
        $this->loader->add($set, $key);
        $this->askUntil(static fn (): bool => (new Set($set))->mayContain($key));
        $this->keys[$set][] = $key;
    }

    /** Builds the list again, pushes it, and asks until its generation is attached. */
    private function renew(string $set, string ...$options): void
    {
        $generation = 1 + ((new Set($set))->info()?->generation ?? 0);
        $seed = ['--like', $this->loader->store, ...$options];
        $this->loader->push(SharedMemory::build($set, range(1, self::NUMBERS), $seed));
        $this->askUntil(static fn (): bool => (new Set($set))->info()?->generation === $generation);
    }

    private function askUntil(callable $isReached): void
    {
        self::assertSoon(function () use ($isReached): bool {
            $this->ask();
            return $isReached();
        }, $this->loader->log(...));
    }

    private function ask(): void
    {
        foreach ($this->keys as $set => $keys) {
            self::assertSame($keys, (new Set($set))->candidates($keys));
            $this->lookups += count($keys);
        }
        $sets = array_keys($this->keys);
        $ofAll = $sets === [] ? [] : array_intersect(...array_values($this->keys));
        foreach ([...array_slice($ofAll, 0, 1), ...array_slice($ofAll, -1)] as $key) {
            self::assertSame($sets, candidate_sets($sets, $key));
        }
    }

    /** @return array{seed: string, sets_of_other_seeds: string[]} */
    private function seed(string ...$options): array
    {
        $seed = Program::keysieve('seed', '--json', ...$options, ...[$this->loader->store]);
        return json_decode($seed, true, flags: JSON_THROW_ON_ERROR);
    }

    private static function shareOfWrongMaybes(Set $set): float
    {
        $foreign = self::keys(5_000, 'foreign');
        return count($set->candidates($foreign)) / count($foreign);
    }
}
