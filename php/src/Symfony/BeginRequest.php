<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use function KeySieve\begin_request;

/** Called for each request and each message, of which one process may serve many. */
final class BeginRequest
{
    public function __invoke(): void
    {
        begin_request();
    }
}
