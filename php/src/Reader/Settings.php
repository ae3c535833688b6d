<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * Where sets are, and what the settings of the extension say, which are read from php.ini here too. A source is
 *
 *   directory:/run/keysieve    a directory where a loader publishes
 *   files:/srv/sets            a folder with files SET.ks, whose signatures nothing checks here
 *
 * It comes from use(), else from KEYSIEVE_SOURCE in the environment, else from keysieve.directory in php.ini. What seen sets answer
 * comes from answerSeenSets(), else from KEYSIEVE_SEEN_ON_UNAVAILABLE.
 */
final class Settings
{
    private const DEFAULT_OWNER = 'keysieve';
    private const SEEN_ANSWERS = ['throw', 'new', 'seen'];

    /** @var ?array{string, string} scheme and path, as use() was told */
    private static ?array $source = null;
    private static ?string $seenOnUnavailable = null;
    private static ?bool $isEnabled = null;
    private static ?bool $throws = null;

    /**
     * For sets that were not asked yet.
     *
     * @throws \InvalidArgumentException for what is not a source
     */
    public static function use(string $source): void
    {
        self::$source = self::parse($source);
    }

    /**
     * `new`, `seen` or `throw`, as on_unavailable in keysieve.toml.
     *
     * @throws \InvalidArgumentException for anything else
     */
    public static function answerSeenSets(string $onUnavailable): void
    {
        if (!in_array($onUnavailable, self::SEEN_ANSWERS, true)) {
            throw new \InvalidArgumentException("on_unavailable of seen sets must be new, seen or throw, not \"$onUnavailable\"");
        }
        self::$seenOnUnavailable = $onUnavailable;
    }

    public static function seenOnUnavailable(): string
    {
        if (self::$seenOnUnavailable === null) {
            $answer = self::environment('KEYSIEVE_SEEN_ON_UNAVAILABLE') ?? 'throw';
            if (!in_array($answer, self::SEEN_ANSWERS, true)) {
                error_log("keysieve: KEYSIEVE_SEEN_ON_UNAVAILABLE must be new, seen or throw, not \"$answer\": every call of a seen set throws");
                $answer = 'throw';
            }
            self::$seenOnUnavailable = $answer;
        }
        return self::$seenOnUnavailable;
    }

    /** @throws \InvalidArgumentException for what is not a source, or if nothing is configured */
    public static function sourceOf(string $set): SnapshotFile|PublishedSet
    {
        $directory = self::setting('keysieve.directory', '');
        $source = self::environment('KEYSIEVE_SOURCE') ?? ($directory === '' ? null : "directory:$directory");
        [$scheme, $path] = self::$source
            ?? self::parse($source ?? throw new \InvalidArgumentException('neither the extension nor KEYSIEVE_SOURCE is there'));
        if ($scheme === 'files') {
            return new SnapshotFile($path, $set);
        }
        if (self::owner() !== self::DEFAULT_OWNER) {
            self::trustedOwner(); // which says so if there is no such user
        }
        return new PublishedSet($path, $set);
    }

    public static function isEnabled(): bool
    {
        // As PHP reads a setting that is on or off: a word for "on", or a number that is not 0.
        return self::$isEnabled ??= preg_match('/\A(?:on|yes|true|\s*[+-]?0*[1-9].*)\z/is', self::setting('keysieve.enabled', '1')) === 1;
    }

    public static function throwsWhenUnavailable(): bool
    {
        if (self::$throws === null) {
            $answer = self::setting('keysieve.on_unavailable', 'maybe');
            if (!in_array($answer, ['maybe', 'throw'], true)) {
                error_log("keysieve.on_unavailable must be \"maybe\" or \"throw\", not \"$answer\"");
            }
            self::$throws = $answer === 'throw';
        }
        return self::$throws;
    }

    private static function environment(string $name): ?string
    {
        $value = $_SERVER[$name] ?? $_ENV[$name] ?? getenv($name);
        return is_string($value) && $value !== '' ? $value : null;
    }

    /** @return array{string, string} scheme and path */
    private static function parse(string $source): array
    {
        if (preg_match('~\A(directory|files):(?!.*://)([^?\0]+)\z~s', $source, $match) !== 1) {
            $store = preg_match('~\A(?:lmdb|dir|https?|redis|rediss|memcached)\b~', $source, $scheme) === 1; // the rest may be a password
            throw new \InvalidArgumentException($store
                ? "a store with $scheme[0]: is not a source of sets: let keysieved publish it, then use directory:/path; "
                    . 'or fetch with "keysieve pull SET URL -o SET.ks", then use files:/path'
                : "\"$source\" is not a source of sets: directory:/path or files:/path");
        }
        return [$match[1], $match[2]];
    }

    /** A uid, besides root and this process's own. Looked up once: it may take a question over the network. */
    public static function trustedOwner(): ?int
    {
        /** @var int|false|null $uid */
        static $uid = false;
        if ($uid !== false) {
            return $uid;
        }
        $owner = self::owner();
        if (preg_match('/\A\d+\z/', $owner) === 1) {
            return $uid = (int) $owner;
        }
        $canLookUp = function_exists('posix_getpwnam');
        $found = $owner !== '' && $canLookUp ? posix_getpwnam($owner) : false;
        if ($found === false && !in_array($owner, ['', self::DEFAULT_OWNER], true)) {
            error_log("keysieve.owner: user \"$owner\" " . ($canLookUp
                ? "does not exist; only files of root and of PHP's own user are trusted"
                : 'cannot be looked up without the extension posix; only files of root are trusted'));
        }
        return $uid = $found === false ? null : $found['uid'];
    }

    private static function owner(): string
    {
        return self::setting('keysieve.owner', self::DEFAULT_OWNER);
    }

    /** A setting of php.ini, though nothing has registered it. */
    private static function setting(string $name, string $default): string
    {
        $value = get_cfg_var($name);
        return is_string($value) ? $value : $default;
    }
}
