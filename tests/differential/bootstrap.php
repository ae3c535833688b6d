<?php

// What the driver and the workers load: this folder's classes, those of php-tests/Support, and the package.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $prefixes = ['KeySieve\\Tests\\Differential\\' => __DIR__, 'KeySieve\\Tests\\Support\\' => dirname(__DIR__, 2) . '/php-tests/Support'];
    foreach ($prefixes as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            require $folder . '/' . substr($class, strlen($prefix)) . '.php';
        }
    }
});
require dirname(__DIR__, 2) . '/php/bootstrap.php';
