<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/**
 * The versions of Symfony and Laravel that the package is tested with; DoctrineTest has those of Doctrine. Symfony 5.4 is Debian's.
 * Composer installs the others below build/frameworks when a test first needs them, together with the package, as an application
 * does. They stay until what is required changes; remove the folder to get newer ones.
 */
final class Framework
{
    public const SYMFONY = ['Symfony 5.4', 'Symfony 6.4', 'Symfony 7.4'];
    public const LARAVEL = ['Laravel 8', 'Laravel 11', 'Laravel 12'];

    private const OF_DEBIAN = ['Bundle/FrameworkBundle', 'Component/Cache', 'Component/Messenger', 'Component/Validator', 'Component/Yaml'];
    /** The version of each is required, since Symfony lets one use the next version of another. */
    private const COMPONENTS = ['cache', 'config', 'dependency-injection', 'framework-bundle', 'http-kernel', 'messenger', 'validator', 'yaml'];
    private const FOLDER = __DIR__ . '/../../build/frameworks';
    private const PACKAGE = __DIR__ . '/../../php';

    /** @var array<string, true> the frameworks that this process has tried to install: what failed is not tried for every case */
    private static array $tried = [];

    /** @return string[] what to require for its classes and those of the package */
    public static function autoloaders(string $framework): array
    {
        if ($framework === 'Symfony 5.4') {
            $files = array_map(static fn (string $component): string => "Symfony/$component/autoload.php", self::OF_DEBIAN);
            return [...$files, realpath(self::PACKAGE . '/bootstrap.php')];
        }
        return [self::installed($framework) . '/vendor/autoload.php'];
    }

    private static function installed(string $framework): string
    {
        [$name, $version] = explode(' ', $framework);
        $packages = $name === 'Laravel' ? ['laravel/framework'] : substr_replace(self::COMPONENTS, 'symfony/', 0, 0);
        return self::project($framework, array_fill_keys($packages, "$version.*"));
    }

    /**
     * An application of the package and others.
     *
     * @param array<string, string> $required versions by package
     */
    public static function project(string $framework, array $required): string
    {
        $package = ['type' => 'path', 'url' => realpath(self::PACKAGE), 'options' => ['versions' => ['keysieve/reader' => 'dev-main']]];
        $wanted = json_encode([
            'repositories' => [$package],
            'require' => ['keysieve/reader' => '@dev'] + $required,
        ]);
        $folder = self::FOLDER . '/' . strtr(strtolower($framework), ' ', '-');
        $done = "$folder/installed"; // written last, with all that the choice of packages depends on
        $inputs = $wanted . file_get_contents(self::PACKAGE . '/composer.json');
        if (!is_file($done) || file_get_contents($done) !== $inputs) {
            if (isset(self::$tried[$framework])) {
                throw new \RuntimeException("$framework could not be installed");
            }
            self::$tried[$framework] = true;
            is_dir($folder) || mkdir($folder, 0755, true);
            file_put_contents("$folder/composer.json", $wanted);
            Program::succeed(['composer', 'update', "--working-dir=$folder", '--no-interaction', '--no-plugins', '--no-progress']);
            file_put_contents($done, $inputs);
        }
        return realpath($folder);
    }
}
