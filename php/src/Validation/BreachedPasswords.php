<?php

declare(strict_types=1);

namespace KeySieve\Validation;

use KeySieve\Keys\PasswordKey;
use KeySieve\Membership;

/** Passwords that many people use, or that were published: a set of them as PasswordKey::of() writes them. */
final class BreachedPasswords
{
    public const REFUSAL = 'This password is in a list of known passwords. Please choose another one.';

    private readonly Blocklist $list;

    public function __construct(Membership $breached)
    {
        $this->list = new Blocklist($breached);
    }

    /**
     * True for others too, as often as the set's false-positive rate says; their users choose another password. False while the set
     * is unavailable, so that every user can go on.
     */
    public function has(#[\SensitiveParameter] string $password): bool
    {
        return ($this->list->candidates([PasswordKey::of($password)]) ?? []) !== [];
    }
}
