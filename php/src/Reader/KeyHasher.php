<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** Hashes keys with the seed of a set, as docs/snapshot_format.md describes it. */
final class KeyHasher
{
    private const SECRET_WORDS = 24;

    /** @var array{secret: string} */
    private readonly array $options;

    public function __construct(public readonly string $seed)
    {
        $secret = '';
        for ($word = 0; $word < self::SECRET_WORDS; $word++) {
            $secret .= strrev(hash('xxh3', $seed, true, ['seed' => $word]));
        }
        $this->options = ['secret' => $secret];
    }

    public function hash(string $key): int
    {
        /**
         * @var array{1: int} $words
         * @psalm-suppress InvalidArgument (it knows no option but the seed)
         */
        $words = unpack('J', hash('xxh3', $key, true, $this->options));
        return $words[1];
    }
}
