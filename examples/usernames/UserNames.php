<?php

declare(strict_types=1);

namespace App;

use KeySieve\Adds\Adds;
use KeySieve\Membership;
use PDOException;

/**
 * Says while a user types whether a name is free. Most names that people try are free, and need no query.
 *
 * "Absent" means free according to the current generation and the adds that this host has received. Good enough to show; only
 * the database's unique index decides who gets the name, when it is inserted.
 */
final class UserNames
{
    public function __construct(
        private readonly Membership $taken,
        private readonly Database $db,
    ) {
    }

    public function state(string $name): NameState
    {
        $key = UserNameKey::of($name);
        return match (true) {
            $key === null => NameState::Invalid,
            !$this->taken->mayContain($name) => NameState::Free,
            default => $this->isTaken($key) ? NameState::Taken : NameState::Free,
        };
    }

    /**
     * Does not ask the set: a name that was taken a moment ago may still be absent here.
     *
     * The insert comes first, since a name that the unique index refuses must not be added. The commit comes last, so that no host
     * sees the row and calls its key absent. An add that fails leaves no row.
     *
     * @return NameState never Free: Registered, Taken or Invalid
     */
    public function register(string $name, Adds $adds): NameState
    {
        $key = UserNameKey::of($name);
        if ($key === null) {
            return NameState::Invalid;
        }
        try {
            $this->db->transaction(function () use ($key, $name, $adds): void {
                $this->db->rows('INSERT INTO users (name_key, name) VALUES (?, ?)', [$key, $name]);
                $adds->add('users', $key);
            });
        } catch (PDOException $exception) {
            // SQLSTATE 23: integrity constraints; the unique index is one.
            if (str_starts_with((string) $exception->getCode(), '23') && $this->isTaken($key)) {
                return NameState::Taken;
            }
            throw $exception;
        }
        return NameState::Registered;
    }

    private function isTaken(string $key): bool
    {
        return $this->db->column('SELECT 1 FROM users WHERE name_key = ?', [$key]) !== [];
    }
}
