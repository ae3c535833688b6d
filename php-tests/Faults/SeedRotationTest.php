<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Set;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\TestCase;

use function KeySieve\candidate_sets;

/**
 * A new seed in the store while keysieved runs and PHP asks: each set goes on with its own seed until it is built
 * again, and no key is absent at any moment, neither one of the list nor one that was added since.
 *
 * @group faults
 */
final class SeedRotationTest extends TestCase
{
    private const SETS = ['rotated-a', 'rotated-b'];

    private Loader $loader;
    private int $asked = 0;

    public function testNoKeyIsAbsentWhileTheSeedIsRenewed(): void
    {
        $rounds = Soak::rounds(1, 20);
        $this->loader = new Loader(self::SETS);
        array_map($this->buildAndPush(...), self::SETS);
        foreach (self::SETS as $set) {
            self::assertSoon(static fn (): bool => (new Set($set))->info() !== null, $this->loader->log(...));
        }
        for ($round = 1; $round <= $rounds; ++$round) {
            $this->rotate("added $round");
        }
        Soak::report("the seed of two sets renewed $rounds times under keysieved: " . number_format($this->asked)
            . ' lookups, none of them wrong');
    }

    private function rotate(string $added): void
    {
        foreach (self::SETS as $set) {
            $this->loader->add($set, $added);
            $this->askUntil(static fn (): bool => (new Set($set))->mayContain($added), []);
        }
        $before = $this->seed();
        $renewed = $this->seed('--new');
        self::assertNotSame($before['seed'], $renewed['seed']);
        self::assertSame(self::SETS, $renewed['sets_of_other_seeds']);
        foreach (self::SETS as $index => $set) {
            $this->ask([$added]);
            $generation = (new Set($set))->info()->generation + 1;
            $this->buildAndPush($set);
            $this->askUntil(static fn (): bool => (new Set($set))->info()->generation === $generation, [$added]);
            self::assertSame(array_slice(self::SETS, $index + 1), $this->seed()['sets_of_other_seeds']);
        }
        $this->ask([$added]);
    }

    /** @param string[] $added */
    private function askUntil(callable $isReached, array $added): void
    {
        self::assertSoon(function () use ($isReached, $added): bool {
            $this->ask($added);
            return $isReached();
        }, $this->loader->log(...));
    }

    /** @param string[] $added */
    private function ask(array $added): void
    {
        $keys = [...array_map(strval(...), range(1, 1_000)), ...$added];
        foreach (self::SETS as $set) {
            self::assertSame($keys, (new Set($set))->candidates($keys));
            $this->asked += count($keys);
        }
        foreach (['1', '1000', ...$added] as $key) {
            self::assertSame(self::SETS, candidate_sets($key, self::SETS));
        }
    }

    private function buildAndPush(string $set): void
    {
        $this->loader->push(SharedMemory::build($set, range(1, 1_000), ['--like', $this->loader->store]));
    }

    /** @return array{seed: string, sets_of_other_seeds: string[]} */
    private function seed(string ...$options): array
    {
        return json_decode($this->keysieve('seed', '--json', ...$options, ...[$this->loader->store]), true, 512, JSON_THROW_ON_ERROR);
    }

    private function keysieve(string ...$arguments): string
    {
        return Program::keysieve(...$arguments);
    }
}
