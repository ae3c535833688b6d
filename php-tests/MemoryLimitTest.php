<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * A call for more keys than memory_limit has room for ends as PHP's own functions do: with an error, and with the script's shutdown functions.
 * Some PHPs grant what exceeds the limit, and kill the process at twice the limit.
 */
final class MemoryLimitTest extends TestCase
{
    private const LIST = 'range(0, 199_999)';
    private const TABLE = 'array_flip(array_map(static fn (int $number): string => "key $number", range(0, 99_999)))';
    private const ITERATOR = 'new ArrayIterator(range(0, 199_999))';

    /** @return iterable<string, array{string, string}> code that makes keys, and code of what asks for them */
    public static function calls(): iterable
    {
        foreach (['a list' => self::LIST, 'a table' => self::TABLE, 'an iterator' => self::ITERATOR] as $name => $keys) {
            yield "mayContainMany, $name" => [$keys, '(new KeySieve\Set("limited"))->mayContainMany(...)'];
            yield "candidates, $name" => [$keys, '(new KeySieve\Set("nosuch"))->candidates(...)'];
            yield "addManyIfNew, $name" => [$keys, '(new KeySieve\SeenSet("limited-clicks"))->addManyIfNew(...)'];
            $getMany = 'static fn (iterable $keys): array => (new KeySieve\Map("nosuch"))->getMany($keys, %s)';
            yield "getMany, $name, unknown" => [$keys, sprintf($getMany, 'static fn (): array => []')];
            yield "getMany, $name, merged" => [$keys, sprintf($getMany, 'static fn (array $keys): array => array_fill_keys($keys, 7)')];
        }
        yield 'candidate_sets' => ['array_fill(0, 200_000, "nosuch")', 'static fn (array $names): array => KeySieve\candidate_sets($names, "k")'];
        yield 'LocalFilter' => ['[]', 'static fn (): object => new KeySieve\LocalFilter(5_000_000)'];
    }

    #[DataProvider('calls')]
    #[Group('unsanitized')]
    public function testACallBeyondTheLimitEndsTheScriptAndNotTheProcess(string $keys, string $call): void
    {
        SharedMemory::put('limited', ['apple']);
        $windows = SeenWindows::open('limited-clicks', 400_000);
        for ($deaths = 0; ; ++$deaths) {
            $script = PhpScript::run(strtr(
                <<<'PHP'
                    register_shutdown_function(static fn () => print('shutdown'));
                    $keys = KEYS;
                    $call = CALL;
                    (new KeySieve\Map('nosuch'))->get('k', static fn () => null);
                    gc_mem_caches();
                    ini_set('memory_limit', memory_get_usage(true) + ROOM);
                    $call($keys);
                    ini_set('memory_limit', -1);
                    echo 'done ';
                    PHP,
                ['KEYS' => $keys, 'CALL' => $call, 'ROOM' => (string) ($deaths * (3 << 19))],
            ), ['memory_limit' => '-1']);
            $where = "with $deaths x 1.5 MiB: $script->output$script->errors";
            self::assertStringEndsWith('shutdown', $script->output, $where);
            if ($script->status === 0) {
                break;
            }
            self::assertStringContainsString('Allowed memory size', $script->output . $script->errors, $where);
        }
        self::assertStringEndsWith('done shutdown', $script->output, $script->errors);
        self::assertGreaterThan(0, $deaths);
    }
}
