<?php

declare(strict_types=1);

// What the tests need from outside: the extension, loaded into this process with a directory of its own, and the
// programs in KEYSIEVE_BIN_DIR. php-tests/run gives all of it. Without the extension the package in php/ is tested.
// tests/differential, whose classes of bytes are used here too, begins with this file.

namespace KeySieve\Tests;

spl_autoload_register(static function (string $class): void {
    foreach ([__NAMESPACE__ . '\\Differential\\' => '../tests/differential', __NAMESPACE__ . '\\' => '.'] as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            require __DIR__ . "/$folder/" . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            return;
        }
    }
});

foreach (['KEYSIEVE_BIN_DIR', 'KEYSIEVE_EXTENSION', 'KEYSIEVE_PACKAGE'] as $name) {
    if (!file_exists((string) getenv($name))) {
        exit("$name must name what was built: run php-tests/run\n");
    }
}
require getenv('KEYSIEVE_PACKAGE') . '/bootstrap.php';
