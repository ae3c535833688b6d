<?php

declare(strict_types=1);

namespace App;

/** A domain in the form of the DNS: lower case, in ASCII, without the dot at its end. */
final class DomainKey
{
    public const PROFILE = 'domain-ascii-v1';

    /** @return ?string null if it is not a domain */
    public static function of(string $domain): ?string
    {
        $domain = rtrim($domain, '.');
        $ascii = $domain === '' ? false : idn_to_ascii($domain, IDNA_NONTRANSITIONAL_TO_ASCII, INTL_IDNA_VARIANT_UTS46);
        return $ascii === false ? null : strtolower($ascii);
    }
}
