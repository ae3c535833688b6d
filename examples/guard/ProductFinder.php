<?php

declare(strict_types=1);

namespace App;

use KeySieve\Guard\GuardedFinder;
use KeySieve\Membership;

/**
 * A guard in front of Redis and SQL. Endless requests for products that do not exist (from a crawler, an attacker) pass every
 * cache, since a missing product is not cached. Here only a small share of them gets that far: the false-positive rate.
 *
 * A product that was inserted since the build is "absent" as well, until its key is added: insert products as ../add_then_commit
 * does. If you cannot do that, use "absent" only for data that may be as old as the build.
 */
final class ProductFinder
{
    /** @var GuardedFinder<int, ?array<string, mixed>> */
    private readonly GuardedFinder $products;

    public function __construct(
        Membership $products,
        private readonly RedisCache $cache,
        private readonly Database $db,
    ) {
        $this->products = new GuardedFinder($products, $this->load(...));
    }

    /** @return ?array<string, mixed> */
    public function find(string $id): ?array
    {
        // "42", "+42" and "42 " are one row for SQL, but three keys for a set: ask for the number, which the set was built
        // from.
        $number = filter_var($id, FILTER_VALIDATE_INT);
        return $number === false ? null : $this->products->find($number);
    }

    /**
     * @param list<int> $numbers
     * @return array<int, ?array<string, mixed>>
     */
    private function load(array $numbers): array
    {
        $found = [];
        foreach ($numbers as $number) {
            $found[$number] = $this->cache->get("product:$number") ?? $this->fromDatabase($number);
        }
        return $found;
    }

    /**
     * A missing product is not cached: it may be inserted at this moment, and would stay hidden until that entry expires.
     *
     * @return ?array<string, mixed>
     */
    private function fromDatabase(int $number): ?array
    {
        $row = $this->db->rows('SELECT id, name FROM products WHERE id = ?', [$number])[0] ?? null;
        if ($row !== null) {
            $this->cache->put("product:$number", $row);
        }
        return $row;
    }
}
