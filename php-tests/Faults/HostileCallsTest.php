<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Calls with senseless arguments, and code of the caller that runs in the middle of a call, get the right error or
 * answer. Nothing is lost: valgrind would see it, since PHP takes every byte from malloc there.
 */
#[Group('soak')]
final class HostileCallsTest extends TestCase
{
    /** Defines $calls, each with what it is to give, and $run, which says what gives something else. */
    private const CALLS = <<<'PHP'
        $set = new Set('hostile');
        $map = new KeySieve\Map('hostile-map');
        $unknown = new KeySieve\Map('not-there');
        $fail = static fn () => throw new LogicException('asked');
        $many = (int) getenv('MANY');
        $error = static function (callable $call): string {
            try {
                $call();
                return 'no error';
            } catch (Throwable $thrown) {
                return get_class($thrown) . ': ' . preg_replace('/^.*\(\$\w+\) /', '', $thrown->getMessage());
            }
        };
        $with_handler = static function (callable $handler, callable $call): mixed {
            set_error_handler($handler);
            try {
                return $call();
            } finally {
                restore_error_handler();
            }
        };
        $stringable = static fn (callable $text): Stringable => new class ($text) implements Stringable {
            public function __construct(private readonly Closure $text)
            {
            }

            public function __toString(): string
            {
                return ($this->text)();
            }
        };
        $rule = 'must be an array of string|int, ';
        $calls = [
            'a wrong type at the end of many' => [
                static fn () => $error(static fn () => $set->mayContainMany([...array_map(strval(...), range(1, $many)), []])),
                "TypeError: {$rule}array given at index $many",
            ],
            'an array in itself' => [
                static function () use ($set, $error) {
                    $keys = ['apple'];
                    $keys['self'] = &$keys;
                    $said = $error(static fn () => $set->mayContainMany($keys));
                    unset($keys['self']);
                    return $said;
                },
                "TypeError: {$rule}array given at index \"self\"",
            ],
            'many keys' => [
                static fn () => array_sum($set->mayContainMany(array_map(static fn ($i) => "key$i", range(1, $many)))) >= 100,
                true,
            ],
            'many candidates' => [
                static fn () => $set->candidates([...array_fill(0, $many, 'certainly absent'), 'last' => 'apple']),
                ['last' => 'apple'],
            ],
            'references' => [
                static function () use ($set) {
                    $key = 'apple';
                    $other = &$key;
                    $another = 'apple';
                    $keys = [&$key, &$other, 'x' => 'certainly absent', &$another];
                    $candidates = $set->candidates($keys);
                    $candidates[0] = 'changed';
                    return [$set->mayContainMany($keys), count($candidates), $key];
                },
                [[true, true, 'x' => false, true], 3, 'apple'],
            ],
            'a long string' => [
                static function () use ($set, $many) {
                    $long = str_repeat('long', 25 * $many);
                    return [$set->mayContain($long), $set->mayContainMany([$long, 'apple']), $set->candidates([$long]),
                        KeySieve\may_contain('hostile', $long), KeySieve\candidate_sets(['hostile'], $long)];
                },
                [false, [false, true], [], false, []],
            ],
            'a long name of a set' => [
                static fn () => strlen($error(static fn () => new Set(str_repeat('a', 1024 * 1024)))) < 300,
                true,
            ],
            'a Stringable' => [static fn () => $set->mayContain($stringable(static fn () => 'apple')), true],
            'a Stringable that throws' => [
                static fn () => $error(static fn () => $set->mayContain($stringable(static fn () => throw new DomainException('no')))),
                'DomainException: no',
            ],
            'a lookup in a Stringable in a lookup' => [
                static fn () => $set->mayContain($stringable(static fn () => $set->mayContain($stringable(static fn () => 'apple')) ? 'pear' : '')),
                false,
            ],
            'a lookup in an error handler in a lookup' => [
                static fn () => $with_handler(static fn () => $set->mayContainMany(['apple', 'pear']) === [true, false], static fn () => $set->mayContain(null)),
                false,
            ],
            'an error handler that throws' => [
                static fn () => $error(static fn () => $with_handler(static fn () => throw new DomainException('handler'), static fn () => $set->mayContain(null))),
                'DomainException: handler',
            ],
            'an error handler that forgets the set' => [
                static fn () => $with_handler(static function () use (&$forgotten) {
                    $forgotten = null;
                    return true;
                }, static function () use (&$forgotten) {
                    $forgotten = new Set('hostile');
                    return $forgotten->mayContain(null);
                }),
                false,
            ],
            'a fiber that is left in the middle' => [
                static function () use ($set, $stringable) {
                    $fiber = new Fiber(static fn () => $set->mayContain($stringable(static fn () => Fiber::suspend('left'))));
                    $said = $fiber->start();
                    unset($fiber);
                    gc_collect_cycles();
                    return [$said, $set->mayContain('apple')];
                },
                ['left', true],
            ],
            'many keys of a map' => [
                static fn () => $map->getMany([...array_map(static fn ($i) => "absent$i", range(1, $many)), 'apple'], $fail),
                ['apple' => 1],
            ],
            'many unknown keys' => [
                static fn () => count($unknown->getMany(array_map(static fn ($i) => "new$i", range(1, $many)), static fn ($keys) => array_flip($keys))),
                $many,
            ],
            'unknown keys in references, and references for them' => [
                static function () use ($unknown) {
                    [$key, $another, $value] = ['new' . strrev('1'), 'ne' . strrev('2w'), 7];
                    $keys = [&$key, &$another, 'x' => &$key, 'new3'];
                    $values = $unknown->getMany($keys, static function (array $list) use (&$value, &$keys): array {
                        $keys = [];
                        return [$list[0] => &$value, 'new2' => &$value, 'other' => 'text'];
                    });
                    $value = 8;
                    return $values;
                },
                ['new1' => 7, 'new2' => 7],
            ],
            'a wrong value at the end of many' => [
                static fn () => $error(static fn () => $unknown->getMany(['new', 'last'], static fn () => ['new' => 1, 'last' => strrev('wrong')])),
                'TypeError: must return an array of ?int, string returned for key "last"',
            ],
            'wrong results for an unknown key' => [
                static fn () => [
                    $error(static fn () => $unknown->get('new', static fn () => [str_repeat('x', 3)])),
                    $error(static fn () => $unknown->getMany(['new'], static fn () => new ArrayObject())),
                ],
                [
                    'TypeError: must return ?int, array returned',
                    'TypeError: must return an array of ?int, ArrayObject returned',
                ],
            ],
            'an autoloader that throws in the middle of get()' => [
                static function () use ($map, $error) {
                    $load = static fn (string $class) => throw new DomainException($class);
                    spl_autoload_register($load);
                    $said = $error(static fn () => $map->get('apple', 'NoSuchClass::method'));
                    spl_autoload_unregister($load);
                    return $said;
                },
                'DomainException: NoSuchClass',
            ],
            'exceptions for unknown keys' => [
                static function () use ($unknown, $error) {
                    $throw = static fn () => throw new DomainException('no');
                    return [
                        $error(static fn () => $unknown->get('new' . strrev('1'), $throw)),
                        $error(static fn () => $unknown->getMany(['new' . strrev('1'), 'new'], $throw)),
                    ];
                },
                ['DomainException: no', 'DomainException: no'],
            ],
            'a callable that forgets map and keys' => [
                static function () use (&$forgotten) {
                    $forgotten = new KeySieve\Map('not-' . strrev('there'));
                    $keys = ['new' . strrev('1'), 'new2'];
                    $forget = static function (mixed $key) use (&$forgotten, &$keys) {
                        $forgotten = $keys = null;
                        gc_collect_cycles();
                        return is_array($key) ? array_fill_keys($key, 4) : 4;
                    };
                    return [$forgotten->getMany($keys, $forget), (new KeySieve\Map('not-there'))->get('new' . strrev('1'), $forget)];
                },
                [['new1' => 4, 'new2' => 4], 4],
            ],
            'a fiber that is left in $ifUnknown' => [
                static function () use ($unknown, $map, $fail) {
                    $fiber = new Fiber(static fn () => $unknown->getMany(['new' . strrev('1')], static fn () => Fiber::suspend('left')));
                    $said = $fiber->start();
                    unset($fiber);
                    gc_collect_cycles();
                    return [$said, $map->get('apple', $fail)];
                },
                ['left', 1],
            ],
            // So many sets that those which are being shown are forgotten.
            'an output callback that asks new sets in the middle of phpinfo()' => [
                static function () {
                    $ask = static fn (string $name) => array_map(static fn (int $i) => new Set("$name-$i"), range(1, 2_000));
                    $ask('new');
                    ob_start(static function (string $text) use ($ask, &$shown): string {
                        if (str_starts_with($text, 'Set new-') && ++$shown === 1) {
                            $ask('newer');
                        }
                        return '';
                    }, 1);
                    (new ReflectionExtension('keysieve'))->info();
                    ob_end_clean();
                    return $shown > 800 && !isset(KeySieve\stats()['new-2000']);
                },
                true,
            ],
            'a set that is missing, and throws' => [
                static fn () => $error(static fn () => (new Set('not-there'))->mayContainMany(range(1, $many))),
                'KeySieve\UnavailableException: set "not-there" is missing (' . ini_get('keysieve.directory')
                    . '/not-there: No such file or directory)',
            ],
        ];
        $run = static function () use ($calls): void {
            foreach ($calls as $name => [$call, $expected]) {
                $given = $call();
                if ($given !== $expected) {
                    echo "$name: ", json_encode($given), ' instead of ', json_encode($expected), "\n";
                }
            }
        };
        PHP;

    private const SETTINGS = ['error_log' => '/dev/null', 'keysieve.on_unavailable' => 'throw'];

    public static function setUpBeforeClass(): void
    {
        SharedMemory::put('hostile', ['apple', ...array_map(static fn (int $i) => "key$i", range(1, 100))]);
        SharedMemory::publish(SharedMemory::buildMap('hostile-map', ['apple' => 1, 'pear' => 2]));
    }

    public function testHostileCallsGiveTheRightErrorsAndLoseNothing(): void
    {
        $many = Soak::rounds(500, 1_000_000);
        $this->runUnderValgrind(self::CALLS . "\n\$run();\necho 'done';", $many, 'done');
        Soak::report('hostile calls from PHP under valgrind, PHP taking all from malloc, arrays of ' . number_format($many)
            . ' keys: right answers and errors, no wrong access, nothing lost');
    }

    /** @return iterable<string, array{string, string}> */
    public static function ends(): iterable
    {
        yield 'exit in a Stringable' => ['$set->mayContain($stringable(static fn () => exit("out")));', 'out'];
        yield 'exit in an error handler' => ['$with_handler(static fn () => exit("out"), static fn () => $set->mayContain(null));', 'out'];
        yield 'exit in $ifUnknown' => ['$unknown->getMany(["new" . strrev("1"), "new2"], static fn () => exit("out"));', 'out'];
        yield 'an exception that nobody catches' => [
            'set_exception_handler(static function (Throwable $thrown): void { echo $thrown->getMessage(); });
             $set->mayContainMany([...range(1, 500), $stringable(static fn () => "apple"), throw new DomainException("out")]);',
            'out',
        ];
        yield 'exit in a destructor, behind a batch' => [
            '$last = new class { public function __destruct() { exit((new Set("hostile"))->mayContain("apple") ? "out" : "wrong"); } };
             $set->mayContainMany(range(1, 500));
             unset($last);',
            'out',
        ];
    }

    #[DataProvider('ends')]
    public function testAScriptThatEndsInTheMiddleLosesNothing(string $code, string $output): void
    {
        $this->runUnderValgrind(self::CALLS . "\n$code\necho 'not reached';", 10, $output);
        Soak::report($this->dataName() . ': no wrong access, nothing lost');
    }

    private function runUnderValgrind(string $code, int $many, string $output): void
    {
        $script = PhpScript::run(
            $code,
            self::SETTINGS + ['memory_limit' => '-1', 'pcre.jit' => 0], // which reads 16 bytes at a time
            ['valgrind', '-q', '--error-exitcode=99', '--leak-check=full', '--show-leak-kinds=definite,indirect',
                '--errors-for-leak-kinds=definite,indirect', '--num-callers=30'],
            ['USE_ZEND_ALLOC' => '0', 'ZEND_DONT_UNLOAD_MODULES' => '1', 'MANY' => (string) $many],
        );
        self::assertSame('', $script->errors);
        self::assertSame($output, $script->output);
    }
}
