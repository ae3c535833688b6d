<?php

// What opcache preloads in the mode "preload" of php-tests/run-suite: code that asks sets and, without the extension, the package.

declare(strict_types=1);

require getenv('KEYSIEVE_PACKAGE') . '/bootstrap.php';
class_exists(KeySieve\Set::class); // loads all other classes of the package with it
require __DIR__ . '/CoerciveCalls.php';
