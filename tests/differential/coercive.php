<?php

// The same calls from a file that leaves types to PHP.

return [
    'call' => static fn (callable $function, array $arguments): mixed => $function(...$arguments),
    'make' => static fn (string $class, array $arguments): object => new $class(...$arguments),
];
