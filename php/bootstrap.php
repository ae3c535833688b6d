<?php

// Loads keysieve's classes and functions where the extension is not there. Composer includes it; other code may do so itself.
// Symfony's compiled containers include the files of classes even where the extension has these: hence each declares its class only
// if it is missing.

declare(strict_types=1);

if (defined('KeySieve\BOOTSTRAP')) {
    return; // another copy of this package was first
}
define('KeySieve\BOOTSTRAP', __FILE__);
spl_autoload_register(static function (string $class): void {
    if (!str_starts_with($class, 'KeySieve\\')) {
        return;
    }
    // A signal handler may ask a set in the middle of a call, where it would not find a class that is just being loaded. So a Set, Map
    // or SeenSet comes with all that it may need; but not in php-fpm without pcntl, where each request would load all of it in vain.
    $isWhole = (PHP_SAPI !== 'fpm-fcgi' || function_exists('pcntl_signal'))
        && in_array($class, ['KeySieve\Set', 'KeySieve\Map', 'KeySieve\SeenSet'], true);
    foreach ($isWhole ? ['', '/Reader', '/Reader/Kind'] : [] as $folder) {
        foreach (scandir(__DIR__ . "/src$folder") ?: [] as $name) {
            if (preg_match('/^[A-Z]\w+\.php$/', $name) === 1) {
                require_once __DIR__ . "/src$folder/$name";
            }
        }
    }
    $file = __DIR__ . '/src/' . strtr(substr($class, 9), '\\', '/') . '.php';
    if (is_file($file)) {
        require_once $file;
    }
});
require_once __DIR__ . '/src/functions.php';
