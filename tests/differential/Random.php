<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/** Draws everything that a story does. The same seed always draws the same. */
final class Random
{
    private readonly Randomizer $numbers;

    public function __construct(string $seed)
    {
        $this->numbers = new Randomizer(new Xoshiro256StarStar(hash('sha256', $seed, true)));
    }

    public function between(int $least, int $most): int
    {
        return $this->numbers->getInt($least, $most);
    }

    public function chance(float $share): bool
    {
        return $this->between(0, 999_999) < 1_000_000 * $share;
    }

    /** Small numbers as often as large ones. */
    public function size(int $most): int
    {
        return (int) ($most + 1) ** ($this->between(0, 1_000_000) / 1_000_000) - ($this->chance(0.5) ? 1 : 0);
    }

    public function bytes(int $count): string
    {
        return $count === 0 ? '' : $this->numbers->getBytes($count);
    }

    /**
     * @template T
     * @param non-empty-array<T> $values
     * @return T
     */
    public function of(array $values): mixed
    {
        return $values[$this->numbers->pickArrayKeys($values, 1)[0]];
    }

    /** @param non-empty-array<string, int> $weights by what they are the weight of */
    public function weighted(array $weights): string
    {
        $at = $this->between(0, array_sum($weights) - 1);
        foreach ($weights as $name => $weight) {
            if (($at -= $weight) < 0) {
                return (string) $name;
            }
        }
    }

    /**
     * @template T
     * @param array<T> $values
     * @return list<T> at most that many of them
     */
    public function some(array $values, int $most): array
    {
        $count = min(count($values), $most);
        $places = $count === 0 ? [] : $this->numbers->shuffleArray($this->numbers->pickArrayKeys($values, $count));
        return array_map(static fn (int|string $at): mixed => $values[$at], $places);
    }
}
