<?php

// An application in Laravel, which discovers the package as Composer installed it, with the files of examples/laravel.
// FrameworkTestCase includes it, and gives AUTOLOADER, FOLDER (of the examples) and TEMPORARY.

declare(strict_types=1);

use App\Providers\AppServiceProvider;
use Illuminate\Console\Command;
use Illuminate\Filesystem\FilesystemServiceProvider;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap;
use Illuminate\Translation\TranslationServiceProvider;
use Illuminate\Validation\ValidationServiceProvider;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\NullOutput;

require AUTOLOADER;
require FOLDER . '/ColumnSet.php';
require FOLDER . '/Database.php';
require FOLDER . '/tag_links/TagKey.php';
require FOLDER . '/tag_links/TagLinks.php';
require FOLDER . '/laravel/AppServiceProvider.php';

final class App
{
    private const SETTINGS = [
        'locale' => 'en',
        'fallback_locale' => 'en',
        'providers' => [
            FilesystemServiceProvider::class, TranslationServiceProvider::class, ValidationServiceProvider::class, AppServiceProvider::class,
        ],
    ];

    public static function boot(): Application
    {
        $app = new Application(TEMPORARY);
        $app->bootstrapWith([
            Bootstrap\LoadConfiguration::class,
            Bootstrap\RegisterFacades::class,
            Bootstrap\RegisterProviders::class,
            Bootstrap\BootProviders::class,
        ]);
        return $app;
    }

    /**
     * @param class-string<Command> $command
     * @param array<string, string> $options
     */
    public static function artisan(string $command, array $options = []): void
    {
        $app = self::boot();
        $command = $app->make($command);
        $command->setLaravel($app);
        $command->run(new ArrayInput($options), new NullOutput());
    }

    public static function write(): void
    {
        mkdir(TEMPORARY . '/config');
        mkdir(TEMPORARY . '/bootstrap/cache', recursive: true);
        symlink(dirname(AUTOLOADER), TEMPORARY . '/vendor');
        self::writeArray('config/app.php', self::SETTINGS);
        copy(FOLDER . '/laravel/keysieve.php', TEMPORARY . '/config/keysieve.php');
    }

    /**
     * As `artisan config:cache` does it.
     *
     * @param array<string, mixed> $settings by file, besides app.php
     */
    public static function cacheSettings(array $settings): void
    {
        self::writeArray('bootstrap/cache/config.php', ['app' => self::SETTINGS] + $settings);
    }

    /** @param array<string, mixed> $values */
    private static function writeArray(string $file, array $values): void
    {
        file_put_contents(TEMPORARY . "/$file", '<?php return ' . var_export($values, true) . ';');
    }
}

App::write();
