<?php

declare(strict_types=1);

namespace KeySieve\Validation;

/** A domain in the form of the DNS: lower case, in ASCII, without the dot at its end. */
final class DomainKey
{
    /** Names these rules: `keysieve build --key-profile domain-ascii-v1`. */
    public const PROFILE = 'domain-ascii-v1';

    private const MOST_BYTES = 253; // RFC 1035, without the dot at the end
    private const LABEL = '[\x21-\x2d\x2f-\x7e]+'; // what can be seen of ASCII, except the dot

    /** Null if it is not a domain or, without the extension intl, not ASCII. */
    public static function of(string $domain): ?string
    {
        $domain = rtrim((string) preg_replace('/[。．｡]/u', '.', $domain), '.'); // UTS 46 calls these dots, too
        $ascii = implode('.', array_map(self::label(...), explode('.', $domain)));
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
            return '';
        }
        idn_to_ascii($label, IDNA_NONTRANSITIONAL_TO_ASCII, INTL_IDNA_VARIANT_UTS46, $result);
        /** @var array{result?: string, errors?: int} $result */
        $hyphens = IDNA_ERROR_LEADING_HYPHEN | IDNA_ERROR_TRAILING_HYPHEN | IDNA_ERROR_HYPHEN_3_4;
        return (($result['errors'] ?? -1) & ~$hyphens) === 0 ? $result['result'] ?? '' : ''; // no result: too long
    }
}
