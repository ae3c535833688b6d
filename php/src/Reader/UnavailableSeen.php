<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;
use KeySieve\UnavailableException;

/** What seen sets answer where there are none, as the extension answers while one is unavailable. */
final class UnavailableSeen
{
    private const REASON = 'only the extension has seen sets; KEYSIEVE_SEEN_ON_UNAVAILABLE=new or =seen answers without it';
    private const EFFECTS = ['throw' => 'every call throws', 'new' => 'every key is new', 'seen' => 'every key is seen'];

    /** @var array<string, true> */
    private static array $logged = [];

    /** @throws UnavailableException */
    public static function isNew(string $set): bool
    {
        $answer = Settings::seenOnUnavailable();
        if (self::availability($set) !== Availability::Disabled && $answer === 'throw') {
            throw new UnavailableException($set, Availability::Missing, self::reason($set));
        }
        return $answer !== 'seen';
    }

    /** Logs once why it is Missing. */
    public static function availability(string $set): Availability
    {
        if (!Settings::isEnabled()) {
            return Availability::Disabled;
        }
        if (!isset(self::$logged[$set])) {
            self::$logged[$set] = true;
            error_log('keysieve: ' . self::reason($set) . ': ' . self::EFFECTS[Settings::seenOnUnavailable()]);
        }
        return Availability::Missing;
    }

    private static function reason(string $set): string
    {
        return "seen set \"$set\" is missing (" . self::REASON . ')';
    }
}
