<?php

// The container of an application in Laravel, with the provider of the package and the files of examples/laravel. FrameworksTest
// includes it, and gives FOLDER (of the examples) and TEMPORARY.

declare(strict_types=1);

use App\Providers\AppServiceProvider;
use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Events\Dispatcher;
use Illuminate\Translation\ArrayLoader;
use Illuminate\Translation\Translator;
use Illuminate\Validation\Factory;
use KeySieve\Laravel\KeysieveServiceProvider;

error_reporting(E_ALL & ~E_DEPRECATED); // of libraries that are older than PHP 8.2
foreach (['Support', 'Container', 'Config', 'Events', 'Translation', 'Validation'] as $component) {
    require "Illuminate/$component/autoload.php";
}
require FOLDER . '/../php/bootstrap.php';
require FOLDER . '/Database.php';
require FOLDER . '/tag_links/TagKey.php';
require FOLDER . '/tag_links/TagLinks.php';
require FOLDER . '/laravel/AppServiceProvider.php';

$app = new class extends Container {
    public function basePath(string $path = ''): string
    {
        return TEMPORARY . "/$path";
    }
};
$app->instance('config', new Repository(['keysieve' => require FOLDER . '/laravel/keysieve.php']));
$app->singleton('events', static fn (): Dispatcher => new Dispatcher($app));
$app->singleton('validator', static fn (): Factory => new Factory(new Translator(new ArrayLoader(), 'en'), $app));
$providers = [new KeysieveServiceProvider($app), new AppServiceProvider($app)];
foreach ($providers as $provider) {
    $provider->register();
}
$providers[0]->boot();
