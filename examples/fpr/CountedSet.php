<?php

declare(strict_types=1);

namespace KeySieve;

/**
 * A set whose false-positive rate is measured in production: you say what the store answered to "maybe".
 *
 *     $products = new CountedSet('products');
 *     $product = $products->lookup($id, fn (int $id): ?array => $db->findProduct($id));   // null: not there
 *
 *     $candidates = $articles->candidates($tags);                                         // or, for a batch,
 *     $rows = $db->findArticles($candidates);
 *     $articles->confirm($candidates, array_column($rows, 'tag'));
 *
 *     production FPR = false positives / (false positives + absent)
 *
 * An answer of an unavailable set is not a false positive of its filter, and is not counted as one. Confirm every key that
 * came back as maybe, and ask such a set only through this class; otherwise the rate comes out too low.
 *
 * Counts go to APCu, which all workers of a php-fpm share; metrics.php shows them. Without APCu nothing is counted. A
 * long-running process calls flush() after each job; where APCu is not shared (command line, RoadRunner) it passes a function
 * that sends the counts elsewhere. This costs some 20 ns more per lookup, and a few microseconds per request and per
 * confirm().
 */
final class CountedSet implements Membership
{
    public const APCU_PREFIX = 'keysieve_php:';

    /** @var array<string, int[]> what stats() said when a set was last flushed: it counts for the whole process */
    private static array $flushed = [];

    private readonly Set $set;
    private readonly \Closure $add;

    /** @param ?callable(string $set, string $counter, int $count): void $add instead of APCu */
    public function __construct(private readonly string $name, ?string $keyProfile = null, ?callable $add = null)
    {
        $this->set = new Set($name, $keyProfile);
        $this->add = \Closure::fromCallable($add ?? self::addToApcu(...));
        self::$flushed[$name] ??= self::asked($name);
    }

    public function __destruct()
    {
        $this->flush();
    }

    public function mayContain(string|int $key): bool
    {
        return $this->set->mayContain($key);
    }

    public function mayContainMany(iterable $keys): array
    {
        return $this->set->mayContainMany($keys);
    }

    public function candidates(iterable $keys): array
    {
        return $this->set->candidates($keys);
    }

    /**
     * Returns null for an absent key, without asking the store. For any other key returns the result of $find: null when the
     * store does not have it. When $find throws, nothing is confirmed.
     *
     * @template TKey of string|int
     * @template T
     * @param TKey $key
     * @param callable(TKey): ?T $find
     * @return ?T
     */
    public function lookup(string|int $key, callable $find): mixed
    {
        if (!$this->set->mayContain($key)) {
            return null;
        }
        $found = $find($key);
        $this->confirm([$key], $found === null ? [] : [$key]);
        return $found;
    }

    /**
     * Reports that the store was asked about keys that came back as maybe, and which of them it found.
     *
     * @param array<string|int> $asked a key as often as it came back as maybe: all of candidates()
     * @param array<string|int> $found written as they were asked for; a key with several rows once or more
     */
    public function confirm(array $asked, array $found): void
    {
        if ($this->set->availability() !== Availability::Ready) {
            return;
        }
        $isFound = array_fill_keys($found, true);
        $hits = 0;
        foreach ($asked as $key) {
            $hits += isset($isFound[$key]) ? 1 : 0;
        }
        $this->count('found', $hits);
        $this->count('false_positive', count($asked) - $hits);
    }

    /** Adds the counts since the last call. The end of a request does this too. */
    public function flush(): void
    {
        $asked = self::asked($this->name);
        foreach ($asked as $counter => $count) {
            $this->count($counter, $count - self::$flushed[$this->name][$counter]);
        }
        self::$flushed[$this->name] = $asked;
    }

    private function count(string $counter, int $count): void
    {
        if ($count > 0) {
            ($this->add)($this->name, $counter, $count);
        }
    }

    /** @return array{maybe: int, absent: int, unavailable: int} */
    private static function asked(string $name): array
    {
        $counts = stats()[$name] ?? ['calls' => 0, 'maybe' => 0, 'absent' => 0, 'unavailable' => 0];
        unset($counts['calls']);
        return $counts;
    }

    private static function addToApcu(string $set, string $counter, int $count): void
    {
        if (function_exists('apcu_enabled') && apcu_enabled()) {
            apcu_inc(self::APCU_PREFIX . "$set:$counter", $count);
        }
    }
}
