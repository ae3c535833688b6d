<?php

// The same calls from a file that leaves types to PHP.

return static fn (callable $function, array $arguments): mixed => $function(...$arguments);
