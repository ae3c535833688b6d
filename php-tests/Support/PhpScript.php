<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** PHP code in a process of its own, with what this process tests and with settings that cannot be changed in a running one. */
final class PhpScript
{
    /**
     * @param array<string, string|int> $settings
     * @param string[]                  $wrapper  a command that runs the interpreter, such as strace with its options
     * @param array<string, string>     $environment
     */
    public static function run(string $code, array $settings = [], array $wrapper = [], array $environment = []): Program
    {
        $file = tempnam(sys_get_temp_dir(), 'keysieve-script-');
        // PHP that preloads as another user forks, which removes libfaketime's semaphore: no later child could open it.
        $ownClock = isset($environment['LD_PRELOAD']) ? "putenv('LD_PRELOAD');\n" : '';
        try {
            file_put_contents($file, "<?php\nuse KeySieve\\{Availability, Set, UnavailableException};\n" . $ownClock . $code);
            chmod($file, 0644); // the wrapper may make it another user's
            return Program::run([...$wrapper, ...self::interpreter($settings), $file], $environment);
        } finally {
            unlink($file);
        }
    }

    /** @return array<string, string> the settings that load opcache, which is a part of PHP 8.5 and newer */
    public static function opcache(): array
    {
        return PHP_VERSION_ID < 80500 ? ['zend_extension' => 'opcache'] : [];
    }

    /**
     * @param array<string, string|int> $settings
     * @return string[]
     */
    public static function interpreter(array $settings = []): array
    {
        $settings += self::implementation() + self::settingsOfTheSuite() + [
            'keysieve.directory' => get_cfg_var('keysieve.directory'),
            'display_errors' => '1',
            'error_reporting' => '-1',
        ];
        $command = [PHP_BINARY, '-n'];
        foreach ($settings as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        return $command;
    }

    /** @return array<string, string> what php-tests/run-suite gives to this process, too: opcache and its mode */
    private static function settingsOfTheSuite(): array
    {
        return parse_ini_string((string) getenv('KEYSIEVE_PHP_SETTINGS'), scanner_mode: INI_SCANNER_RAW);
    }

    /** @return array<string, string> what loads the implementation that this process tests: the extension, or the package in PHP */
    private static function implementation(): array
    {
        if (extension_loaded('keysieve')) {
            return ['extension' => getenv('KEYSIEVE_EXTENSION')];
        }
        $posix = ini_get('extension_dir') . '/posix.so'; // by which the package knows its own user
        return ['auto_prepend_file' => getenv('KEYSIEVE_PACKAGE') . '/bootstrap.php'] + (is_file($posix) ? ['extension' => $posix] : []);
    }
}
