<?php

declare(strict_types=1);

namespace KeySieve\Validation;

use KeySieve\Keys\KeyedSet;
use KeySieve\Membership;
use KeySieve\UnavailableException;

/** A set of what must not be used. A set that cannot be asked answers maybe, which must lock out nobody. */
final class Blocklist
{
    /** At a false-positive rate of 1 %, all of them are maybe by chance once in 10^16. */
    private const UNLISTED_KEYS = 8;

    private readonly Membership $listed;

    public function __construct(Membership $listed)
    {
        $this->listed = $listed instanceof KeyedSet ? $listed->set : $listed; // what is asked are keys already
    }

    /**
     * Those that may be listed; null if the set cannot be asked. The same call asks for keys that are certainly not listed. If all of
     * these are maybe, the other answers mean nothing. That works through a wrapper of the set, too.
     *
     * @param list<string> $keys
     * @return ?list<string>
     */
    public function candidates(array $keys): ?array
    {
        $random = str_split(random_bytes(self::UNLISTED_KEYS * 16), 16);
        $unlisted = array_map(static fn (string $bytes): string => bin2hex($bytes) . '.invalid', $random); // a key for DomainKey, too
        try {
            $answers = $this->listed->mayContainMany([...$keys, ...$unlisted]);
        } catch (UnavailableException) {
            return null;
        }
        $isAsked = in_array(false, array_slice($answers, count($keys)), true);
        return $isAsked ? array_values(array_intersect_key($keys, array_filter($answers))) : null;
    }
}
