<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** Compiled code gets the same answers. */
final class OpcacheTest extends TestCase
{
    private const CODE = <<<'PHP'
        function ask(Set $set, string|int $present, string $absent): int
        {
            $text = (string) $present;
            $wrong = 0;
            for ($call = 0; $call < 5_000; ++$call) {
                $wrong += (int) !$set->mayContain($present);
                $wrong += (int) !$set->mayContain($text);
                $wrong += (int) $set->mayContain($absent);
                $wrong += (int) ($set->mayContainMany(['p' => $present, 'a' => $absent]) !== ['p' => true, 'a' => false]);
                $wrong += (int) ($set->candidates([$absent, $present, $absent]) !== [1 => $present]);
                $wrong += (int) !KeySieve\may_contain('compiled', $present);
                $wrong += (int) (KeySieve\candidate_sets(['compiled', 'compiled'], $present) !== ['compiled', 'compiled']);
            }
            return $wrong;
        }
        echo ask(new Set('compiled'), 'apple', 'pear') + ask(new Set('compiled'), 42, '43'), "\n";

        PHP;
    private const USED = <<<'PHP'
        $jit = opcache_get_status(false)['jit'];
        echo $jit['buffer_size'] - $jit['buffer_free'];
        PHP;

    /** @return iterable<string, array{string}> */
    public static function modes(): iterable
    {
        yield 'tracing' => ['tracing'];
        yield 'function' => ['function'];
        yield '1255' => ['1255'];
        yield '1205: compiled when loaded' => ['1205'];
    }

    #[DataProvider('modes')]
    public function testAnswersTheSameUnderJit(string $mode): void
    {
        SharedMemory::put('compiled', ['apple', '42']);
        $settings = [
            ...PhpScript::opcache(),
            'opcache.enable_cli' => 1,
            'opcache.jit' => $mode,
            'opcache.jit_buffer_size' => '16M',
        ];
        $usedByPhpItself = (int) PhpScript::run(self::USED, $settings)->output; // which does not compile such a new script
        $script = PhpScript::run(self::CODE . self::USED, $settings + ['opcache.file_update_protection' => 0]);
        [$wrong, $used] = explode("\n", $script->output);
        self::assertSame('0', $wrong);
        self::assertGreaterThan($usedByPhpItself, (int) $used);
        self::assertSame('', $script->errors);
    }

    public function testThePackageMayBePreloadedWhetherTheExtensionIsThereOrNot(): void
    {
        $preload = SharedMemory::directory() . '/preload.php';
        $folder = var_export(getenv('KEYSIEVE_PACKAGE') . '/src', true);
        file_put_contents($preload, "<?php array_map(opcache_compile_file(...), glob($folder . '/{,Adds/,Reader/}*.php', GLOB_BRACE));");
        $script = PhpScript::run('echo json_encode(KeySieve\\candidate_sets([], "apple"));', [
            ...PhpScript::opcache(),
            'opcache.enable_cli' => 1,
            'opcache.preload' => $preload,
            'opcache.preload_user' => posix_getpwuid(posix_geteuid())['name'],
        ]);
        self::assertSame('[]', $script->output, $script->errors);
    }
}
