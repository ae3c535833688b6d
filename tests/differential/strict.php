<?php

// Calls from a file with strict types.

declare(strict_types=1);

return [
    'call' => static fn (callable $function, array $arguments): mixed => $function(...$arguments),
    'make' => static fn (string $class, array $arguments): object => new $class(...$arguments),
];
