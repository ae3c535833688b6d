<?php

// Calls from a file with strict types.

declare(strict_types=1);

return static fn (callable $function, array $arguments): mixed => $function(...$arguments);
