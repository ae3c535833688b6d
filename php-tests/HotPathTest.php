<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * A lookup over an attached set makes no system call, reads no clock, and allocates nothing from PHP's memory or by malloc; a
 * batch nothing but its result.
 * A key is hashed once, however many sets of one seed look at it. The same holds for what is added to a seen set.
 */
#[Group('unsanitized')]
final class HotPathTest extends TestCase
{
    private const SETS = 16;
    private const LONG_KEY_BYTES = 1 << 22;

    /** Calls that are watched, after the same calls: fewer than 4,096, at each of which a reader looks at the clock and its files. */
    private const SCRIPT = <<<'PHP'
        $object = new KeySieve\OBJECT;
        $pear = str_repeat('pear', 1);
        $absent = str_repeat('absent ', 10);
        $never = fn () => throw new LogicException('asked');
        $sum = 0;
        $run = function (int $from) use ($object, $pear, $absent, $never, &$sum) {
            for ($call = $from; $call < $from + 900; ++$call) {
                CALLS;
            }
        };
        $run($from = hrtime(true)); // each process adds others to a seen set
        for ($call = 0; $call < 500; ++$call) {
            LAST;
        }

        PHP;

    private static ?SeenWindows $windows;

    public static function setUpBeforeClass(): void
    {
        self::$windows = SeenWindows::open('hot');
        self::$windows->append();
        SharedMemory::putWithLayer('hot', ['apple']);
        SharedMemory::addLive('hot', 'pear');
        SharedMemory::publishWithLayer(SharedMemory::buildMap('hot-map', ['apple' => 3, 'pear' => 4]));
        SharedMemory::addLive('hot-map', 'plum');
        SharedMemory::put('once-1', ['apple']);
        for ($number = 2; $number <= self::SETS; ++$number) {
            SharedMemory::put("once-$number", ['apple'], ['--like', SharedMemory::directory() . '/once-1.ks']);
        }
    }

    public static function tearDownAfterClass(): void
    {
        self::$windows = null;
    }

    /** @return iterable<string, array{array<string, string>, string, string, string, string, string}> of SCRIPT, a batch, what is printed, what attaching calls, and the method */
    public static function paths(): iterable
    {
        $last = '"to the next look at the clock"';
        yield 'lookups' => [
            [
                'OBJECT' => 'Set("hot")', 'LAST' => "\$object->mayContain($last)",
                'CALLS' => '$object->mayContain("apple"); $object->mayContain($absent); $object->mayContain($call); KeySieve\may_contain("hot", $pear)',
            ],
            '$object->mayContainMany(["apple", $pear, $absent]); $object->candidates(["apple", $pear, $absent])',
            'json_encode(KeySieve\stats()["hot"])', '"calls":7704,"maybe":3608,"absent":4104,"unavailable":0', '"control"', 'Set_mayContain',
        ];
        $get = static fn (string $key): string => "(\$object->get($key, \$never) ?? 0)";
        yield 'values' => [
            [
                'OBJECT' => 'Map("hot-map")', 'LAST' => $get($last),
                'CALLS' => '$sum += ' . implode(' + ', array_map($get, ['"apple"', '$absent', '$call', '$pear'])),
            ],
            '$object->getMany(["apple", $pear, $absent], $never)', '$sum', '12600', '"control"', 'Map_get',
        ];
        yield 'additions' => [
            [
                'OBJECT' => 'SeenSet("hot")', 'LAST' => "\$object->addIfNew($last)",
                'CALLS' => '$sum += $object->addIfNew($call) + $object->addIfNew($from) + $object->addIfNew($pear); $object->mayContain($call)',
            ],
            '$object->addManyIfNew([$pear, --$from])', '$sum', '1801', 'shmat(', 'SeenSet_addIfNew',
        ];
    }

    /** @param array<string, string> $of */
    #[DataProvider('paths')]
    public function testACallMakesNoSystemCallAllocatesNothingAndReadsNoClock(array $of, string $batch, string $print, string $printed, string $attaching, string $method): void
    {
        $folder = new Folder('trace');
        $prepare = strtr(self::SCRIPT, $of) . $batch;
        $calls = '$run($from + 1_000)';
        $script = PhpScript::run(
            "$prepare; file_exists('/marker/before'); $calls; $batch; file_exists('/marker/after'); echo $print;",
            wrapper: ['strace', '-f', '-o', "$folder/trace"],
        );
        self::assertSame('', $script->errors);
        self::assertStringContainsString($printed, $script->output);
        [$before, $between] = preg_split('~^.*/marker/.*\n~m', file_get_contents("$folder/trace"));
        self::assertSame('', $between);
        self::assertStringContainsString($attaching, $before);

        [$before, $between, $inBatch] = self::profiles("$prepare; sleep(0); $calls; sleep(0); $batch; sleep(0);");
        $ofSystem = '\w*memalign|operator new.*|clock_gettime|gettimeofday|time';
        foreach ([[$between, '_?\w*alloc\w*'], [$inBatch, '[mc]alloc|realloc']] as [$profile, $allocation]) {
            self::assertSame(0, preg_match_all("/^fn=($allocation|$ofSystem)(@.*)?$/m", $profile, $found), implode("\n", $found[0]));
        }
        foreach (['malloc', '_emalloc', 'clock_gettime'] as $function) {
            self::assertMatchesRegularExpression("/^fn=$function(@.*)?$/m", $before, 'what attaches the set needs it');
        }
        self::assertStringContainsString("fn=zim_KeySieve_$method", $between);
    }

    /** Another thread of a PHP with threads may call putenv() at any time. */
    public function testOnlyTheStartOfTheModuleReadsTheEnvironment(): void
    {
        [$start, $attach] = self::profiles('sleep(0); (new Set("hot"))->mayContain("apple"); sleep(0);');
        $reads = static fn (string $profile): array => array_filter(
            explode("\n\n", $profile),
            static fn (string $function): bool => preg_match('/^fn=keysieve::.*^cfn=(secure_)?getenv\b/ms', $function) === 1,
        );
        self::assertCount(1, $reads($start));
        self::assertStringContainsString('fn=keysieve::Attachment::', $attach);
        self::assertSame([], $reads($attach));
    }

    public function testManySetsOfOneSeedHashAKeyOnce(): void
    {
        $sets = json_encode(array_map(static fn (int $number): string => "once-$number", range(1, self::SETS)));
        $profiles = self::profiles(strtr(
            <<<'PHP'
                $key = str_repeat('k', BYTES);
                $ask = static function (array $names) use ($key): void { KeySieve\candidate_sets($names, $key); };
                $ask(SETS);
                foreach ([0, 1, count(SETS)] as $count) {
                    $names = array_slice(SETS, 0, $count);
                    sleep(0);
                    $ask($names);
                    sleep(0);
                }
                PHP,
            ['BYTES' => (string) self::LONG_KEY_BYTES, 'SETS' => $sets],
        ));
        $instructions = static fn (int $profile): int => preg_match('/^totals: (\d+)$/m', $profiles[$profile], $found) ? (int) $found[1] : 0;
        [$none, $one, $many] = array_map($instructions, [1, 3, 5]);
        self::assertGreaterThan(self::LONG_KEY_BYTES / 8, $one - $none, 'the key is hashed');
        self::assertGreaterThan($none, $many);
        self::assertLessThan(1.5 * ($one - $none), $many - $none);
    }

    /** @return string[] what callgrind says of the code up to each sleep() from the one before */
    private static function profiles(string $code): array
    {
        $folder = new Folder('profiles');
        $script = PhpScript::run(
            $code,
            wrapper: ['valgrind', '--tool=callgrind', '--compress-strings=no', "--callgrind-out-file=$folder/profile", '--dump-before=sleep'],
        );
        self::assertSame(0, $script->status, $script->errors);
        $files = glob("$folder/profile.*");
        natsort($files);
        return array_map(file_get_contents(...), array_values($files));
    }
}
