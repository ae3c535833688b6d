<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/**
 * The versions of Symfony and Laravel that the package is tested with, each as an application that Composer makes below build/frameworks
 * when a test first needs it: the framework's own skeleton, the package, and what ApplicationsTest uses besides. They stay until what is
 * required changes; remove the folder to get newer ones.
 */
final class Framework
{
    /** With the oldest PHP of each. */
    private const SYMFONY = ['Symfony 7.4' => '8.2', 'Symfony 6.4' => '8.1'];
    private const LARAVEL = ['Laravel 13' => '8.3', 'Laravel 12' => '8.2', 'Laravel 11' => '8.2'];

    /** The version of each is required, since Symfony lets one use the next version of another. */
    private const COMPONENTS = [
        'symfony/cache', 'symfony/config', 'symfony/dependency-injection', 'symfony/doctrine-messenger', 'symfony/event-dispatcher', 'symfony/http-kernel',
        'symfony/messenger', 'symfony/validator',
    ];
    private const FOLDER = __DIR__ . '/../../build/frameworks';
    private const PACKAGE = __DIR__ . '/../../php';

    /** @return string[] */
    public static function symfony(): array
    {
        return self::chosen(self::SYMFONY);
    }

    /** @return string[] */
    public static function laravel(): array
    {
        return self::chosen(self::LARAVEL);
    }

    /**
     * The versions that run in this PHP: all of them if KEYSIEVE_FRAMEWORKS is "all", else the newest.
     *
     * @param array<string, string> $oldest PHP by framework, the newest first
     * @return string[]
     */
    private static function chosen(array $oldest): array
    {
        $versions = array_keys(array_filter($oldest, static fn (string $php): bool => version_compare(PHP_VERSION, $php, '>=')));
        return getenv('KEYSIEVE_FRAMEWORKS') === 'all' ? $versions : array_slice($versions, 0, 1);
    }

    /** The application's folder, where each test puts its own configuration and code. */
    public static function application(string $framework): string
    {
        return self::made($framework, file_get_contents(__FILE__), static fn (string $folder) => self::install($framework, $folder));
    }

    /**
     * The folder of the package and others, without a skeleton.
     *
     * @param array<string, string> $required versions by package
     */
    public static function project(string $name, array $required): string
    {
        $wanted = json_encode(['repositories' => [self::package()], 'require' => ['keysieve/reader' => '@dev'] + $required], JSON_THROW_ON_ERROR);
        return self::made($name, $wanted, static function (string $folder) use ($wanted): void {
            mkdir($folder, 0755, true);
            file_put_contents("$folder/composer.json", $wanted);
            Program::succeed(['composer', 'update', "--working-dir=$folder", '--no-interaction', '--no-plugins', '--no-progress']);
        });
    }

    /** @param callable(string): void $install into that folder, which is not there */
    private static function made(string $name, string $inputs, callable $install): string
    {
        $folder = self::FOLDER . '/' . strtr(strtolower($name), ' ', '-');
        $done = "$folder/installed"; // written last, with all that the choice of packages depends on
        $inputs .= file_get_contents(self::PACKAGE . '/composer.json');
        is_dir(self::FOLDER) || mkdir(self::FOLDER, 0755, true);
        $lock = fopen(self::FOLDER . '/lock', 'c');
        flock($lock, LOCK_EX); // another suite may be at work; released at the end of this function
        if (!is_file($done) || file_get_contents($done) !== $inputs) {
            Program::succeed(['rm', '-rf', $folder]);
            $install($folder);
            file_put_contents($done, $inputs);
        }
        return realpath($folder);
    }

    /** @return array<string, mixed> the package as a repository */
    private static function package(): array
    {
        return ['type' => 'path', 'url' => realpath(self::PACKAGE), 'options' => ['versions' => ['keysieve/reader' => 'dev-main']]];
    }

    private static function install(string $framework, string $folder): void
    {
        [$name, $version] = explode(' ', $framework);
        $skeleton = $name === 'Symfony' ? 'symfony/skeleton' : 'laravel/laravel';
        $quietly = ['--no-interaction', '--no-plugins', '--no-scripts', '--no-progress'];
        $place = ['--working-dir=' . self::FOLDER, $skeleton, basename($folder), "$version.*"];
        Program::succeed(['composer', 'create-project', ...$place, '--no-install', ...$quietly]);
        $wanted = json_decode(file_get_contents("$folder/composer.json"), true, flags: JSON_THROW_ON_ERROR);
        unset($wanted['require-dev']);
        $wanted['repositories'] = [self::package()];
        $wanted['require']['keysieve/reader'] = '@dev';
        if ($name === 'Symfony') {
            // Flex would require these, and download what an application in ApplicationsTest has of its own.
            $components = [...array_keys($wanted['flex-require']), ...self::COMPONENTS];
            unset($wanted['require']['symfony/flex'], $wanted['flex-require']);
            $wanted['require'] += array_fill_keys($components, "$version.*")
                + ['doctrine/doctrine-bundle' => '^2.12', 'doctrine/orm' => '^3.0', 'psr/simple-cache' => '^3.0'];
        }
        file_put_contents("$folder/composer.json", json_encode(array_filter($wanted), JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR));
        Program::succeed(['composer', 'update', "--working-dir=$folder", ...$quietly]);
    }
}
