<?php

declare(strict_types=1);

namespace KeySieve\Adds;

/**
 * Lets rows be committed while the store is away: the keys that it does not take go to a queue.
 *
 * Until the queue has passed them on, every host that looks may call these keys absent although their rows are there. Use it where a
 * late row does less harm than a lost one. Let the queue retry without end, and keep it elsewhere than in that Redis.
 */
final class QueuedAdds implements Adds
{
    /** @param \Closure(QueuedKeys): void $queue throws if it cannot keep them: then the row must not be committed either */
    public function __construct(
        private readonly Adds $adds,
        private readonly \Closure $queue,
    ) {
    }

    public function add(string $set, string|int ...$keys): void
    {
        try {
            $this->adds->add($set, ...$keys);
        } catch (AddException) {
            ($this->queue)(QueuedKeys::of($set, $keys));
        }
    }
}
