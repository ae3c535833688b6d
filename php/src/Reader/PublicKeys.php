<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** The builders whose snapshots are taken: each must be signed by one of these keys. docs/snapshot_format.md says what is signed. */
final class PublicKeys
{
    public const DIGEST_BYTES = 32;

    private const PUBLIC_KEY_AT = 920;
    private const KEY_BYTES = 32;
    private const SIGNATURE_AT = 4024;
    private const SIGNATURE_BYTES = 64;
    private const SHOWN_DIGITS = 16;

    /** @param non-empty-list<string> $keys their bytes */
    private function __construct(private readonly array $keys)
    {
    }

    /**
     * Keys of 64 hexadecimal digits, separated by commas.
     *
     * @throws \InvalidArgumentException which does not show the text: it may be a secret key
     */
    public static function parse(string $text): self
    {
        $keys = [];
        foreach (array_map('trim', explode(',', $text)) as $number => $key) {
            if (preg_match('/\A[0-9a-f]{64}\z/i', $key) !== 1) {
                throw new \InvalidArgumentException('key ' . ($number + 1) . ' is not a public key: 64 hexadecimal digits, as keysieve keygen prints them');
            }
            $keys[] = (string) hex2bin($key);
        }
        return new self($keys);
    }

    /** BLAKE2b-256. */
    public static function digest(string $bytes): string
    {
        return sodium_crypto_generichash($bytes, '', self::DIGEST_BYTES);
    }

    /**
     * @param string $page of the header
     * @throws Failure unless it is signed by one of the keys
     */
    public function check(Header $header, string $page, string $source): void
    {
        $key = substr($page, self::PUBLIC_KEY_AT, self::KEY_BYTES);
        $expected = implode(' or ', array_map(self::shown(...), $this->keys));
        $fault = match (true) {
            !$header->isSigned => "is not signed, but must be by $expected",
            !in_array($key, $this->keys, true) => 'is signed by ' . self::shown($key) . ", but must be by $expected",
            !function_exists('sodium_crypto_sign_verify_detached') => "its signature cannot be checked without PHP's extension sodium",
            !self::isSigned($page, $key) => 'the signature does not match its header: it is forged, or was changed',
            default => null,
        };
        if ($fault !== null) {
            throw Failure::data("$source: $fault");
        }
    }

    private static function isSigned(string $page, string $key): bool
    {
        try {
            $signature = substr($page, self::SIGNATURE_AT, self::SIGNATURE_BYTES);
            return $signature !== '' && $key !== '' && sodium_crypto_sign_verify_detached($signature, substr($page, 0, self::SIGNATURE_AT), $key);
        } catch (\SodiumException) {
            return false; // a key that cannot be one
        }
    }

    private static function shown(string $key): string
    {
        return substr(bin2hex($key), 0, self::SHOWN_DIGITS) . '...';
    }
}
