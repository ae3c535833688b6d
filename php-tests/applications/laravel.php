<?php

// The application in Laravel. FrameworkTestCase includes it, and gives APPLICATION, the folder of the application, and FOLDER, that of the
// examples.

declare(strict_types=1);

use Illuminate\Contracts\Console\Kernel;
use Illuminate\Foundation\Application;

require APPLICATION . '/vendor/autoload.php';

final class App
{
    public static function boot(): Application
    {
        $app = require APPLICATION . '/bootstrap/app.php';
        $app->make(Kernel::class)->bootstrap();
        return $app;
    }

    /** @param array<string, string> $options */
    public static function artisan(string $command, array $options = []): void
    {
        self::boot()->make(Kernel::class)->call($command, $options);
    }

    /**
     * As it was cached with other settings in config/keysieve.php.
     *
     * @param ?array<string, mixed> $ofKeysieve null: before the package came
     */
    public static function cacheSettings(?array $ofKeysieve): void
    {
        self::artisan('config:cache');
        $file = APPLICATION . '/bootstrap/cache/config.php';
        $settings = array_filter(['keysieve' => $ofKeysieve] + require $file);
        file_put_contents($file, '<?php return ' . var_export($settings, true) . ';');
    }
}
