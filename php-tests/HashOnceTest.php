<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** However many sets of one seed look at a key, it is hashed once: the instructions say so. */
final class HashOnceTest extends TestCase
{
    private const SETS = 16;
    private const LONG_KEY_BYTES = 1 << 22;

    public static function setUpBeforeClass(): void
    {
        SharedMemory::put('once-0', ['apple']);
        for ($number = 1; $number < self::SETS; ++$number) {
            SharedMemory::put("once-$number", ['apple'], ['--seed-from', SharedMemory::directory() . '/once-0.ks']);
        }
    }

    /** @return iterable<string, array{string}> */
    public static function calls(): iterable
    {
        yield 'candidate_sets' => ['KeySieve\candidate_sets($key, $names)'];
        yield 'a Key' => ['$object = new Key($key); foreach ($names as $name) { KeySieve\may_contain($name, $object); }'];
    }

    /** @dataProvider calls */
    public function testManySetsOfOneSeedHashAKeyOnce(string $call): void
    {
        $none = self::instructions($call, 0);
        $one = self::instructions($call, 1) - $none;
        $many = self::instructions($call, self::SETS) - $none;
        self::assertGreaterThan(self::LONG_KEY_BYTES / 8, $one, 'the key is hashed');
        self::assertLessThan(1.5 * $one, $many);
    }

    public function testCallsOfTheirOwnHashItForEverySet(): void
    {
        $call = 'foreach ($names as $name) { KeySieve\may_contain($name, $key); }';
        $none = self::instructions($call, 0);
        $one = self::instructions($call, 1) - $none;
        self::assertGreaterThan(0.5 * self::SETS * $one, self::instructions($call, self::SETS) - $none);
    }

    /** Of a process that makes the call for a long key, with so many sets. */
    private static function instructions(string $call, int $sets): int
    {
        $names = json_encode(array_map(fn (int $number): string => "once-$number", $sets === 0 ? [] : range(0, $sets - 1)));
        $script = PhpScript::run(
            "\$names = $names; \$key = str_repeat('k', " . self::LONG_KEY_BYTES . "); $call;",
            wrapper: ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null'],
            environment: ['KEYSIEVE_INSTRUCTION_SET' => 'avx2'],
        );
        self::assertSame(1, preg_match('/Collected : (\\d+)/', $script->errors, $found), $script->errors);
        return (int) $found[1];
    }
}
