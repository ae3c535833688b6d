<?php

declare(strict_types=1);

namespace App;

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
            !$this->taken->mayContain($key) => NameState::Free,
            default => $this->isTaken($key) ? NameState::Taken : NameState::Free,
        };
    }

    /**
     * Does not ask the set: a name that was taken a moment ago may still be absent here.
     *
     * @return NameState never Free: Registered, Taken or Invalid
     */
    public function register(string $name, AddThenCommit $addThenCommit): NameState
    {
        $key = UserNameKey::of($name);
        if ($key === null) {
            return NameState::Invalid;
        }
        try {
            $addThenCommit->insert($key, 'INSERT INTO users (name_key, name) VALUES (?, ?)', [$key, $name]);
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
