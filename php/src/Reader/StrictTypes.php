<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** Whether a file declares strict_types, which PHP applies to the calls in it. Only its source tells. */
final class StrictTypes
{
    private const DECLARED = '~\A(?:#![^\n]*\n)?<\?php(?>\s+|/\*.*?\*/|(?://|#)[^\n]*\n)+declare\s*\([^)]*\bstrict_types\s*=\s*1\b~is';

    /** @var array<string, bool> by file */
    private static array $known = [];

    /** @param int $behind this many calls lie between the caller and this one */
    public static function areOfCaller(int $behind): bool
    {
        $file = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, $behind + 1)[$behind]['file'] ?? null; // none: PHP itself calls
        return $file !== null && (self::$known[$file] ??= self::areDeclaredIn($file));
    }

    private static function areDeclaredIn(string $file): bool
    {
        try {
            return preg_match(self::DECLARED, (string) File::contents($file)) === 1;
        } catch (Failure) {
            return false;
        }
    }
}
