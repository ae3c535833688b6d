<?php

declare(strict_types=1);

namespace KeySieve\Keys;

/** The key profiles that Builder and `keysieve build` (tools/keys/key_profile.cpp) know, so that they refuse other keys. */
final class BuiltIn
{
    private const FUNCTIONS = [DomainKey::class, IntegerKey::class, PasswordHashKey::class];

    /**
     * What makes a key of this profile of a key; null for an application's own.
     *
     * @return ?class-string<KeyFunction>
     */
    public static function function(string $profile): ?string
    {
        foreach (self::FUNCTIONS as $function) {
            if ($function::profile() === $profile) {
                return $function;
            }
        }
        return null;
    }

    /**
     * Whether a configured key profile is the class that makes the keys, and not a name.
     *
     * @phpstan-assert-if-true class-string<KeyFunction> $profile
     * @throws \InvalidArgumentException for another class, or one that is not found
     */
    public static function isFunction(?string $profile): bool
    {
        $isFunction = $profile !== null && is_subclass_of($profile, KeyFunction::class);
        if (!$isFunction && str_contains((string) $profile, '\\')) {
            throw new \InvalidArgumentException("key profile $profile: is no class that implements " . KeyFunction::class);
        }
        return $isFunction;
    }
}
