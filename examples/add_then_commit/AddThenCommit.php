<?php

declare(strict_types=1);

namespace App;

use PDO;
use Redis;
use RuntimeException;
use Throwable;

/**
 * Inserts a row whose key is in a set. The key is in the set's adds log before the row can be seen. A transaction that is
 * rolled back after its add costs a "maybe" now and then until the next build.
 *
 * The key must be the one that lookups ask for. The connection to Redis must have the defaults of OPT_SERIALIZER and
 * OPT_PREFIX.
 */
final class AddThenCommit
{
    /** @param string $log `<prefix>:<set>:adds`, such as keysieve:users:adds */
    public function __construct(
        private readonly PDO $db,
        private readonly Redis $redis,
        private readonly string $log,
    ) {
    }

    /**
     * The insert comes first: a row that a unique index refuses must not be added.
     *
     * @param array<string|int> $values
     */
    public function insert(string|int $key, string $sql, array $values): void
    {
        $this->db->beginTransaction();
        try {
            $this->db->prepare($sql)->execute($values);
            $this->add($key);
            $this->db->commit();
        } catch (Throwable $error) {
            if ($this->db->inTransaction()) {
                $this->db->rollBack();
            }
            throw $error;
        }
    }

    /** A failed add fails the transaction; otherwise the row would be there, and its key absent until the next build. */
    private function add(string|int $key): void
    {
        if ($this->redis->xAdd($this->log, '*', ['key' => $key]) === false) {
            throw new RuntimeException("{$this->log}: {$this->redis->getLastError()}");
        }
    }
}
