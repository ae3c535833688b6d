<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

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
        [$one, $many] = self::instructions($call);
        self::assertGreaterThan(self::LONG_KEY_BYTES / 8, $one, 'the key is hashed');
        self::assertLessThan(1.5 * $one, $many);
    }

    public function testCallsOfTheirOwnHashItForEverySet(): void
    {
        [$one, $many] = self::instructions('foreach ($names as $name) { KeySieve\may_contain($name, $key); }');
        self::assertGreaterThan(0.5 * self::SETS * $one, $many);
    }

    /** @return int[] of the call for a long key with one set and with all, less what it takes with none; sleep() marks them */
    private static function instructions(string $call): array
    {
        $names = json_encode(array_map(fn (int $number): string => "once-$number", range(0, self::SETS - 1)));
        $key = "str_repeat('k', " . self::LONG_KEY_BYTES . ')';
        $profile = tempnam(sys_get_temp_dir(), 'keysieve-profile-');
        $script = PhpScript::run(
            <<<PHP
                \$sets = $names;
                \$key = $key;
                \$ask = static function (array \$names) use (\$key): void { $call; };
                \$ask(\$sets);
                foreach ([0, 1, count(\$sets)] as \$count) {
                    \$names = array_slice(\$sets, 0, \$count);
                    sleep(0);
                    \$ask(\$names);
                    sleep(0);
                }
                PHP,
            wrapper: ['valgrind', '--tool=callgrind', "--callgrind-out-file=$profile", '--dump-before=sleep'],
            environment: ['KEYSIEVE_INSTRUCTION_SET' => 'avx2'],
        );
        self::assertSame(0, $script->status, $script->errors);
        [$none, $one, $many] = array_map(static function (int $dump) use ($profile): int {
            self::assertSame(1, preg_match('/^totals: (\d+)$/m', file_get_contents("$profile.$dump"), $found));
            return (int) $found[1];
        }, [2, 4, 6]);
        array_map('unlink', glob("$profile*"));
        return [$one - $none, $many - $none];
    }
}
