<?php

declare(strict_types=1);

namespace KeySieve\Adds;

/** The keys of rows. */
final class KeysBySet
{
    /** @var array<array-key, non-empty-array<array-key, true>> */
    private readonly array $keys;

    /** @param array<array-key, array<array-key, true>> $keys */
    private function __construct(array $keys)
    {
        $this->keys = array_filter($keys);
    }

    public static function none(): self
    {
        return new self([]);
    }

    /** @throws \TypeError for keys that are no string|int, such as a Collection: its string would be a key that no lookup asks for */
    public static function of(InSets $row): self
    {
        $bySet = [];
        foreach ($row->keysInSets() as $set => $keys) {
            foreach (is_array($keys) ? $keys : array_filter([$keys], static fn (mixed $key): bool => $key !== null) as $key) {
                if (!is_string($key) && !is_int($key)) {
                    $type = get_debug_type($key);
                    throw new \TypeError($row::class . "::keysInSets() must return string|int|null or an array of string|int for $set, $type given");
                }
                $bySet[$set][$key] = true;
            }
        }
        return new self($bySet);
    }

    public function and(self $other): self
    {
        $bySet = $this->keys;
        foreach ($other->keys as $set => $keys) {
            $bySet[$set] = ($bySet[$set] ?? []) + $keys;
        }
        return new self($bySet);
    }

    public function butNot(self $other): self
    {
        $bySet = [];
        foreach ($this->keys as $set => $keys) {
            $bySet[$set] = array_diff_key($keys, $other->keys[$set] ?? []);
        }
        return new self($bySet);
    }

    public function isEmpty(): bool
    {
        return $this->keys === [];
    }

    /** @throws AddException */
    public function addTo(Adds $adds): void
    {
        foreach ($this->keys as $set => $keys) {
            $adds->add((string) $set, ...array_keys($keys));
        }
    }
}
