<?php

declare(strict_types=1);

namespace App;

use KeySieve\Membership;

/**
 * A guard in front of Redis and SQL. A crawler or an attacker that asks for endless products that do not exist passes
 * every cache, since a missing product is not cached. Here only the share that the false-positive rate says gets as far.
 *
 * A product that was inserted since the build is "absent" as well, until its key is added: insert products by
 * AddThenCommit (../add_then_commit). Where that cannot be done, use "absent" only for what may be as old as the build.
 */
final class ProductFinder
{
    public function __construct(
        private readonly Membership $products,
        private readonly RedisCache $cache,
        private readonly Database $db,
    ) {
    }

    /** @return ?array<string, mixed> */
    public function find(string $id): ?array
    {
        // "42", "+42" and "42 " are one row for SQL, but three keys for a set: ask for what was built, the number.
        $number = filter_var($id, FILTER_VALIDATE_INT);
        if ($number === false || !$this->products->mayContain($number)) {
            return null;
        }
        return $this->cache->get("product:$number") ?? $this->fromDatabase($number);
    }

    /**
     * That a product is not there is not cached: it may be inserted at this moment, and would stay away until that
     * entry ends.
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
