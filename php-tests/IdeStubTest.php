<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\TestCase;

/** stubs/keysieve.php says of the extension what reflection says of it. */
final class IdeStubTest extends TestCase
{
    public function testTheStubDeclaresAllThatTheExtensionOffersAndNothingElse(): void
    {
        $offered = self::described(['-d', 'extension=' . getenv('KEYSIEVE_EXTENSION')], '');
        $stub = dirname(__DIR__) . '/stubs/keysieve.php';
        self::assertStringContainsString('KeySieve\Set', $offered);
        self::assertSame($offered, self::described([], "require '$stub';"));
    }

    /** @param string[] $options of the interpreter */
    private static function described(array $options, string $before): string
    {
        $code = $before . file_get_contents(__DIR__ . '/Support/reflect.php', offset: strlen('<?php'));
        return Program::output([PHP_BINARY, '-n', ...$options, '-d', 'display_errors=1', '-r', $code]);
    }
}
