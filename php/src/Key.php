<?php

declare(strict_types=1);

namespace KeySieve;

/** A key to look up in several sets, or repeatedly. */
final readonly class Key
{
    public string $bytes;

    /** An int counts as its decimal string, as for Set::mayContain(). */
    public function __construct(string|int $bytes)
    {
        $this->bytes = (string) $bytes;
    }

    public function __serialize(): array
    {
        throw new \Exception("Serialization of '" . self::class . "' is not allowed");
    }

    public function __unserialize(array $data): void
    {
        throw new \Exception("Unserialization of '" . self::class . "' is not allowed");
    }
}
