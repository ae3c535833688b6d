<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** Refuses what the extension's classes refuse by a flag, as clones. unserialize() makes an empty object of "C:..." unless a class is Serializable. */
trait NotSerializable
{
    /** @return never */
    public function __serialize(): array
    {
        throw new \Exception("Serialization of '" . self::class . "' is not allowed");
    }

    /**
     * @param array<mixed> $data
     * @return never
     */
    public function __unserialize(array $data): void
    {
        throw new \Exception("Unserialization of '" . self::class . "' is not allowed");
    }

    public function serialize(): never
    {
        $this->__serialize();
    }

    public function unserialize(string $data): never
    {
        $this->__unserialize([]);
    }

    private function __clone()
    {
    }
}
