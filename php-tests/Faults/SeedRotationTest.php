<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Tests\Support\AskedSets;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\Soak;

/**
 * A new seed in the store while keysieved runs and PHP asks: each set keeps its own seed until it is built again.
 *
 * @group faults
 */
final class SeedRotationTest extends AskedSets
{
    private const SETS = ['rotated-a', 'rotated-b'];

    public function testNoKeyIsAbsentWhileTheSeedIsRenewed(): void
    {
        $rounds = Soak::rounds(1, 20);
        $this->start(...self::SETS);
        for ($round = 1; $round <= $rounds; ++$round) {
            foreach (self::SETS as $set) {
                $this->add($set, "added $round");
            }
            $before = $this->seed();
            $renewed = $this->seed('--new');
            self::assertNotSame($before['seed'], $renewed['seed']);
            self::assertSame(self::SETS, $renewed['sets_of_other_seeds']);
            foreach (self::SETS as $index => $set) {
                $this->renew($set);
                self::assertSame(array_slice(self::SETS, $index + 1), $this->seed()['sets_of_other_seeds']);
            }
        }
        Soak::report("the seed of two sets renewed $rounds times under keysieved: " . number_format($this->lookups)
            . ' lookups, none of them wrong');
    }

    /** @return array{seed: string, sets_of_other_seeds: string[]} */
    private function seed(string ...$options): array
    {
        $seed = Program::keysieve('seed', '--json', ...$options, ...[$this->loader->store]);
        return json_decode($seed, true, flags: JSON_THROW_ON_ERROR);
    }
}
