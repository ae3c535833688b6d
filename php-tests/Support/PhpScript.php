<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** PHP code in a process of its own, with the extension and with settings that cannot be changed in a running one. */
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
        try {
            file_put_contents($file, "<?php\nuse KeySieve\\{Availability, Key, Set, UnavailableException};\n" . $code);
            chmod($file, 0644); // the wrapper may make it another user's
            return Program::run([...$wrapper, ...self::interpreter($settings), $file], $environment);
        } finally {
            unlink($file);
        }
    }

    /**
     * @param array<string, string|int> $settings
     * @return string[]
     */
    public static function interpreter(array $settings = []): array
    {
        $settings += [
            'extension' => getenv('KEYSIEVE_EXTENSION'),
            'keysieve.directory' => ini_get('keysieve.directory'),
            'display_errors' => '1',
            'error_reporting' => '-1',
        ];
        $command = [PHP_BINARY, '-n'];
        foreach ($settings as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        return $command;
    }
}
