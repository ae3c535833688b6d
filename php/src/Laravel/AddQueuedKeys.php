<?php

declare(strict_types=1);

namespace KeySieve\Laravel;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use KeySieve\Adds\QueuedKeys;
use KeySieve\Adds\RedisAdds;

/** The job that passes on what waits for the store. Workers retry it for as long as the store is away. */
final class AddQueuedKeys implements ShouldQueue
{
    use Queueable;

    public int $tries = 0;
    /** @var list<int> seconds */
    public array $backoff = [1, 5, 15, 60];

    public function __construct(private readonly QueuedKeys $keys)
    {
    }

    public function handle(RedisAdds $adds): void
    {
        $this->keys->addTo($adds);
    }
}
