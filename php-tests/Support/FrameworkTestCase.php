<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

use KeySieve\Keys\PasswordKey;

/** Code that runs in an application of a framework, with the examples' files for it. */
abstract class FrameworkTestCase extends TestCase
{
    /** Files of the examples and their places in an application, and what a test leaves in it. */
    private const FILES = [
        'symfony' => [
            'symfony/keysieve.yaml' => 'config/packages/keysieve.yaml', 'symfony/services.yaml' => 'config/services.yaml',
            'symfony/InsertArticle.php' => 'src/InsertArticle.php', 'ColumnSet.php' => 'src/ColumnSet.php', 'Database.php' => 'src/Database.php',
            'tag_links/TagKey.php' => 'src/TagKey.php', 'tag_links/TagLinks.php' => 'src/TagLinks.php',
        ],
        'laravel' => [
            'laravel/AppServiceProvider.php' => 'app/Providers/AppServiceProvider.php', 'laravel/InsertArticle.php' => 'app/Actions/InsertArticle.php',
            '../php-tests/applications/laravel/env' => '.env', 'ColumnSet.php' => 'app/ColumnSet.php', 'Database.php' => 'app/Database.php',
            'tag_links/TagKey.php' => 'app/TagKey.php', 'tag_links/TagLinks.php' => 'app/TagLinks.php',
        ],
    ];
    private const LEFT = ['symfony' => 'var config/validator', 'laravel' => 'bootstrap/cache/*.php database/database.sqlite'];

    protected Examples $examples;
    /** @var array<string, string> */
    protected array $environment = [];

    protected function setUp(): void
    {
        $this->examples = new Examples($this->environment);
        $this->examples->setUp('encyclopedia', 'shop', 'disposable');
        SharedMemory::put('breached', [PasswordKey::of('123456')], ['--key-profile', PasswordKey::profile()]);
    }

    /** @return iterable<string, array{string}> */
    public static function symfony(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            yield $framework => [$framework];
        }
    }

    /** @return iterable<string, array{string}> */
    public static function laravel(): iterable
    {
        foreach (Framework::laravel() as $framework) {
            yield $framework => [$framework];
        }
    }

    /** The folder of the application, with the files of php-tests/applications and of the examples. */
    protected function application(string $framework): string
    {
        $name = self::nameOf($framework);
        $application = Framework::application($framework);
        Program::succeed(['sh', '-ec', 'cd "$1" && rm -rf ' . self::LEFT[$name], 'sh', $application]);
        Program::succeed(['cp', '-r', __DIR__ . "/../applications/$name/.", $application]);
        foreach (self::FILES[$name] as $file => $place) {
            is_dir(dirname("$application/$place")) || mkdir(dirname("$application/$place"));
            copy(Examples::path($file), "$application/$place");
        }
        return $application;
    }

    protected function code(string $framework, string $code): string
    {
        $given = '';
        foreach (['APPLICATION' => $this->application($framework), 'TEMPORARY' => (string) $this->examples->folder] as $name => $value) {
            $given .= "const $name = " . var_export($value, true) . ";\n";
        }
        return $this->examples->code("{$given}require FOLDER . '/../php-tests/applications/" . self::nameOf($framework) . ".php';\n$code");
    }

    private static function nameOf(string $framework): string
    {
        return strtolower(strtok($framework, ' '));
    }
}
