<?php

declare(strict_types=1);

namespace KeySieve\Keys;

/** A domain in the form of the DNS: lower case, in ASCII, without the dot at its end, nor spaces around it. */
final class DomainKey implements KeyFunction
{
    private const MOST_BYTES = 253; // RFC 1035, without the dot at the end
    private const LABEL = '[a-z0-9_-]{1,63}'; // "_" is in names of services

    public static function profile(): string
    {
        return 'domain-ascii-v1';
    }

    /** Null if it is not a domain, such as an address, a URL or a pattern with "*". Throws for what is not ASCII without the extension intl. */
    public static function of(string $raw): ?string
    {
        $domain = (string) preg_replace(['/\A[\s\p{Z}]+|[\s\p{Z}]+\z/u', '/[。．｡]/u'], ['', '.'], $raw); // UTS 46 calls these dots, too
        $ascii = implode('.', array_map(self::label(...), explode('.', rtrim($domain, '.'))));
        $isDomain = strlen($ascii) <= self::MOST_BYTES && preg_match('/\A' . self::LABEL . '(\.' . self::LABEL . ')*\z/', $ascii) === 1;
        return $isDomain ? $ascii : null;
    }

    /**
     * Empty if it is none. idn_to_ascii() refuses labels that the DNS has, such as r3---sn-x: what is ASCII needs no conversion, and
     * in others hyphens may be anywhere.
     */
    private static function label(string $label): string
    {
        if (preg_match('/[^\x00-\x7f]/', $label) !== 1) {
            return strtolower($label);
        }
        if (!function_exists('idn_to_ascii')) {
            throw new \LogicException('a domain that is not ASCII needs the extension intl');
        }
        idn_to_ascii($label, IDNA_NONTRANSITIONAL_TO_ASCII, INTL_IDNA_VARIANT_UTS46, $result);
        /** @var array{result?: string, errors?: int} $result */
        $hyphens = IDNA_ERROR_LEADING_HYPHEN | IDNA_ERROR_TRAILING_HYPHEN | IDNA_ERROR_HYPHEN_3_4;
        return (($result['errors'] ?? -1) & ~$hyphens) === 0 ? $result['result'] ?? '' : ''; // no result: too long
    }
}
