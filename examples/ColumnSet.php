<?php

declare(strict_types=1);

namespace App;

use KeySieve\Build\SetSource;
use KeySieve\Keys\KeyFunction;
use PDO;

/** A set of the values in a column of the database. `values()` passes them on row by row. */
final class ColumnSet implements SetSource
{
    /** @param ?class-string<KeyFunction> $keys */
    public function __construct(
        private readonly string $name,
        private readonly Database $db,
        private readonly string $query,
        private readonly ?string $keys = null,
    ) {
    }

    public function name(): string
    {
        return $this->name;
    }

    public function fpr(): float
    {
        return 0.01;
    }

    public function keyFunction(): ?string
    {
        return $this->keys;
    }

    public function values(): iterable
    {
        yield from $this->db->connection()->query($this->query, PDO::FETCH_COLUMN, 0) ?: [];
    }
}
