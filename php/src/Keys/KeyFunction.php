<?php

declare(strict_types=1);

namespace KeySieve\Keys;

/** How raw values become keys: the same class for the source of a set and for its lookups, so that both sides cannot drift apart. */
interface KeyFunction
{
    /** Names the rules, in at most 64 bytes; another name whenever a key changes. A set says by which rules it was built. */
    public static function profile(): string;

    /** Takes raw values alone: of a key it may make another. Null: this can be no key. A source that has it is refused; a lookup answers absent. */
    public static function of(#[\SensitiveParameter] string $raw): ?string;
}
