<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** Opcache really is in the mode in which php-tests/run-suite runs the conformance cases. */
final class OpcacheModeTest extends TestCase
{
    /** An expression: the modes of this process. In another than jit the loop leaves no machine code. */
    private const MODES = <<<'PHP'
        (static function (): array {
            $free = static fn (): int => opcache_get_status(false)['jit']['buffer_free'] ?? 0;
            $before = $free();
            $set = new KeySieve\Set('compiled');
            for ($call = 0; $call < 1_000; ++$call) {
                $set->mayContain('apple');
            }
            $status = opcache_get_status(false);
            $preloaded = $status['preload_statistics']['classes'] ?? [];
            $package = extension_loaded('keysieve') ? [] : ['KeySieve\Set', 'KeySieve\Reader\Snapshot'];
            return [
                'jit' => $free() < $before,
                'preload' => array_diff(['KeySieve\Tests\Support\CoerciveCalls', ...$package], $preloaded) === [],
                'file_cache' => $status['file_cache_only'] ?? false,
            ];
        })()
        PHP;

    public function testTheModeIsOnInThisProcessAndInScripts(): void
    {
        SharedMemory::put('compiled', ['apple']);
        $expected = [getenv('KEYSIEVE_OPCACHE_MODE') => true] + ['jit' => false, 'preload' => false, 'file_cache' => false];
        $file = SharedMemory::directory() . '/modes.php';
        file_put_contents($file, '<?php return ' . self::MODES . ';');
        self::assertEquals($expected, require $file);
        $script = PhpScript::run('echo json_encode(' . self::MODES . ');');
        self::assertEquals($expected, json_decode($script->output, true), $script->errors);
    }

    public function testThisFileWasReadFromTheFileCache(): void
    {
        $times = array_map(filemtime(...), glob(ini_get('opcache.file_cache') . '/*' . __FILE__ . '.bin'));
        self::assertSame(getenv('KEYSIEVE_OPCACHE_MODE') === 'file_cache' ? [1] : [], $times, 'else it was compiled and written again');
    }
}
