<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\InvalidNameException;

/** What a set may be called. */
final class SetName
{
    private const RULE = '1 to 64 characters a-z, 0-9, _ or -, beginning with a letter or digit';

    /**
     * @param string $demand begins the message
     * @throws InvalidNameException
     */
    public static function checked(string $name, string $demand): string
    {
        if (preg_match(Header::NAME_RULE, $name) === 1) {
            return $name;
        }
        $shown = substr(explode("\0", $name, 2)[0], 0, 80);
        throw new InvalidNameException("$demand " . self::RULE . ", \"$shown\" given");
    }
}
