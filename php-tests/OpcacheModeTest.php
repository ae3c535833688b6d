<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** Opcache really is in the mode in which php-tests/run-suite runs the conformance cases. */
final class OpcacheModeTest extends TestCase
{
    private const LOOP = <<<'PHP'
        <?php
        $set = new KeySieve\Set('compiled');
        for ($call = 0; $call < 1_000; ++$call) {
            $set->mayContain('apple');
        }
        PHP;
    /** An expression: the modes of this process. In another than a JIT's, LOOP leaves no machine code. */
    private const MODES = <<<'PHP'
        (static function (): array {
            $free = static fn (): int => opcache_get_status(false)['jit']['buffer_free'] ?? 0;
            $before = $free();
            require get_cfg_var('keysieve.directory') . '/loop.php'; // some modes compile a file when it is loaded
            $isCompiled = $free() < $before;
            $status = opcache_get_status(false);
            $preloaded = $status['preload_statistics']['classes'] ?? [];
            $package = extension_loaded('keysieve') ? [] : ['KeySieve\Set', 'KeySieve\Reader\Snapshot'];
            return [
                'jit' => $isCompiled ? "{$status['jit']['kind']}{$status['jit']['opt_level']}" : null,
                'preload' => array_diff(['KeySieve\Tests\Support\CoerciveCalls', ...$package], $preloaded) === [],
                'file_cache' => $status['file_cache_only'] ?? false,
            ];
        })()
        PHP;
    /** The last two digits of the number by which PHP knows a mode: what makes it compile, and how much it optimises. */
    private const JITS = ['jit_tracing' => '54', 'jit_1255' => '55', 'jit_function' => '05'];

    public function testTheModeIsOnInThisProcessAndInScripts(): void
    {
        SharedMemory::put('compiled', ['apple']);
        $directory = SharedMemory::directory();
        file_put_contents("$directory/loop.php", self::LOOP);
        file_put_contents("$directory/modes.php", '<?php return ' . self::MODES . ';');
        $mode = getenv('KEYSIEVE_OPCACHE_MODE');
        $expected = ['jit' => self::JITS[$mode] ?? null, 'preload' => $mode === 'preload', 'file_cache' => $mode === 'file_cache'];
        self::assertEquals($expected, require "$directory/modes.php");
        $script = PhpScript::run('echo json_encode(' . self::MODES . ');');
        self::assertEquals($expected, json_decode($script->output, true), $script->errors);
    }

    public function testThisFileWasReadFromTheFileCache(): void
    {
        $times = array_map(filemtime(...), glob(ini_get('opcache.file_cache') . '/*' . __FILE__ . '.bin'));
        self::assertSame(getenv('KEYSIEVE_OPCACHE_MODE') === 'file_cache' ? [1] : [], $times, 'else it was compiled and written again');
    }
}
