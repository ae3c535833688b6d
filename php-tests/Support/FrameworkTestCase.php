<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

use KeySieve\Keys\PasswordKey;

/** Code that runs in an application of a framework, with the examples' files for it. */
abstract class FrameworkTestCase extends TestCase
{
    protected Examples $examples;

    protected function setUp(): void
    {
        $this->examples = new Examples($this->environment());
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

    /** @return array<string, string> */
    protected function environment(): array
    {
        return [];
    }

    protected function code(string $framework, string $code): string
    {
        $constants = ['AUTOLOADER' => Framework::autoloader($framework), 'TEMPORARY' => (string) $this->examples->folder];
        $given = '';
        foreach ($constants as $name => $value) {
            $given .= "const $name = " . var_export($value, true) . ";\n";
        }
        $application = strtolower(strtok($framework, ' '));
        return $this->examples->code("{$given}require FOLDER . '/../php-tests/applications/$application.php';\n$code");
    }
}
