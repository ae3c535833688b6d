<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Adds\AddException;
use KeySieve\Adds\Adds;
use KeySieve\Adds\QueuedKeys;
use Symfony\Component\Messenger\Exception\RecoverableMessageHandlingException;

/**
 * Messenger's handler of what waits for the store. Messenger retries it for as long as the store is away. Each pause is longer than the
 * one before, up to `max_delay` of the transport's `retry_strategy`.
 */
final class AddQueuedKeys
{
    public function __construct(private readonly Adds $adds)
    {
    }

    public function __invoke(QueuedKeys $keys): void
    {
        try {
            $keys->addTo($this->adds);
        } catch (AddException $error) {
            throw new RecoverableMessageHandlingException($error->getMessage(), 0, $error);
        }
    }
}
