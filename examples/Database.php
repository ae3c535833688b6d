<?php

declare(strict_types=1);

namespace App;

use PDO;

/**
 * The source of truth of these examples: SQLite, in the file that EXAMPLES_DB names. The first query opens it: a page all of
 * whose keys are absent never connects.
 */
final class Database
{
    /** Number of queries that this object has made. */
    public int $queries = 0;
    private ?PDO $connection = null;

    public function __construct(private readonly ?string $file = null)
    {
    }

    /**
     * @param array<string|int> $values
     * @return list<array<string, mixed>>
     */
    public function rows(string $sql, array $values = []): array
    {
        /** @var list<array<string, mixed>> $rows */
        $rows = $this->run($sql, $values)->fetchAll(PDO::FETCH_ASSOC);
        return $rows;
    }

    /**
     * The first column of all rows.
     *
     * @param array<string|int> $values
     * @return list<mixed>
     */
    public function column(string $sql, array $values = []): array
    {
        return array_values($this->run($sql, $values)->fetchAll(PDO::FETCH_COLUMN));
    }

    /**
     * Runs a query whose one `(?)` stands for all the values.
     *
     * @param array<string|int> $values not empty
     * @return list<array<string, mixed>>
     */
    public function rowsAmong(string $sql, array $values): array
    {
        $places = '(' . implode(', ', array_fill(0, count($values), '?')) . ')';
        return $this->rows(str_replace('(?)', $places, $sql), $values);
    }

    /** Commits what the function has written, or nothing if it throws. */
    public function transaction(\Closure $write): void
    {
        $this->connection()->beginTransaction();
        try {
            $write();
            $this->connection()->commit();
        } catch (\Throwable $error) {
            if ($this->connection()->inTransaction()) {
                $this->connection()->rollBack();
            }
            throw $error;
        }
    }

    /** A time limit: how long SQLite waits for a lock, and MySQL and PostgreSQL for a connection. */
    public function connection(): PDO
    {
        $file = $this->file ?? (string) getenv('EXAMPLES_DB');
        return $this->connection ??= new PDO("sqlite:$file", options: [PDO::ATTR_TIMEOUT => 2]);
    }

    /** @param array<string|int> $values */
    private function run(string $sql, array $values): \PDOStatement
    {
        ++$this->queries;
        $statement = $this->connection()->prepare($sql);
        $statement->execute(array_values($values));
        return $statement;
    }
}
