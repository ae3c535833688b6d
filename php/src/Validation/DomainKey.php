<?php

declare(strict_types=1);

namespace KeySieve\Validation;

/** A domain in the form of the DNS: lower case, in ASCII, without the dot at its end. */
final class DomainKey
{
    /** Names these rules: `keysieve build --key-profile domain-ascii-v1`. */
    public const PROFILE = 'domain-ascii-v1';

    private const MOST_BYTES = 253; // RFC 1035, without the dot at the end

    /** Null if it is no domain. Without the extension intl, one that is not ASCII is none either. */
    public static function of(string $domain): ?string
    {
        if ($domain !== '' && function_exists('idn_to_ascii')) {
            $domain = (string) idn_to_ascii($domain, IDNA_NONTRANSITIONAL_TO_ASCII, INTL_IDNA_VARIANT_UTS46);
        }
        $ascii = strtolower(rtrim($domain, '.'));
        return preg_match('/\A[\x21-\x7e]{1,' . self::MOST_BYTES . '}\z/', $ascii) === 1 ? $ascii : null;
    }
}
