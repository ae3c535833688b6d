<?php

declare(strict_types=1);

namespace KeySieve\Adds;

/** Keys that wait in a queue for their store. They are in Base64, because queues use JSON, and a key may be any bytes. */
final class QueuedKeys
{
    /** @param list<string> $base64 */
    public function __construct(
        public readonly string $set,
        public readonly array $base64,
    ) {
    }

    /** @param array<string|int> $keys */
    public static function of(string $set, array $keys): self
    {
        return new self($set, array_map(static fn (string|int $key): string => base64_encode((string) $key), array_values($keys)));
    }

    /** @throws AddException if the store is still away */
    public function addTo(Adds $adds): void
    {
        $adds->add($this->set, ...array_map(static fn (string $key): string => (string) base64_decode($key), $this->base64));
    }
}
