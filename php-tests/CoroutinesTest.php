<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** Coroutines that ask the package at the same time and switch whenever it reads a file, as Swoole's do. */
final class CoroutinesTest extends TestCase
{
    public function testManyMayAskAPublishedSetAtOnce(): void
    {
        SharedMemory::putWithLayer('switched', self::keys(3_000), ['--shard-size', '1KiB']);
        SharedMemory::addLive('switched', ...self::keys(50, 'added'));
        $script = self::switching(<<<'PHP'
            $keys = fn (string $name, int $first, int $count): array => array_map(fn (int $i): string => "$name $i", range($first, $first + $count - 1));
            $ask = fn (int $number) => function () use ($keys, $number): array {
                KeySieve\begin_request();
                $lists = [$keys('key', 1 + 300 * $number, 300), $keys('added', 1, 50), $keys('absent', 1, 50)];
                return array_map(fn (array $list): int => count((new Set('switched'))->candidates($list)), $lists);
            };
            echo json_encode(array_unique(Switching::run(array_map($ask, range(0, 9))), SORT_REGULAR));
            PHP);
        self::assertSame('[[300,50,0]]', $script->output, $script->errors);
        self::assertSame('', $script->errors);
    }

    /** One call attaches publication 2. At any of its steps 3 becomes current, and another call begins, which must not answer from 2. */
    public function testAnOlderPublicationTakesNoPlaceOfANewerOne(): void
    {
        $folder = SharedMemory::folder('overtaken');
        for ($number = 1; $number <= 3; ++$number) {
            SharedMemory::putWithLayer('overtaken', ['apple']);
            Program::output(['sh', '-c', "mkdir -p '$folder/kept' && cp -pf '$folder'/000* '$folder/kept'"]);
        }
        Program::output(['sh', '-c', "cp -pf '$folder/kept'/* '$folder'"]); // also those that the publisher has removed
        $script = self::switching(<<<'PHP'
            $directory = get_cfg_var('keysieve.directory');
            $publish = fn (int $number) => Switching::really(function () use ($directory, $number): void {
                $control = fopen("$directory/overtaken/control", 'r+');
                fseek($control, 64);
                fwrite($control, pack('P', $number));
            });
            $resume = function (Fiber $fiber, int $times): void {
                for (; $times > 0 && !$fiber->isTerminated(); --$times) {
                    $fiber->isStarted() ? $fiber->resume() : $fiber->start();
                }
            };
            $found = [];
            $follow = function (KeySieve\Reader\PublishedSet $source) use (&$found): void {
                $source->follow(time(), false);
                $found[] = [$source->why, $source->snapshot->live->publication];
            };
            for ($stepsOfOne = 0, $done = false; !$done; ++$stepsOfOne) {
                for ($stepsOfOther = 0, $otherIsDone = false; !$otherIsDone; ++$stepsOfOther) {
                    $publish(1);
                    $source = new KeySieve\Reader\PublishedSet($directory, 'overtaken', null);
                    $source->follow(time(), true);
                    $one = new Fiber(fn () => $source->follow(time(), false));
                    $other = new Fiber(fn () => $follow($source));
                    $publish(2);
                    $resume($one, $stepsOfOne);
                    $done = $one->isTerminated();
                    $publish(3);
                    $resume($other, $stepsOfOther);
                    $otherIsDone = $other->isTerminated();
                    $resume($one, PHP_INT_MAX);
                    $resume($other, PHP_INT_MAX);
                }
            }
            echo json_encode([count($found) > 400, array_unique($found, SORT_REGULAR)]);
            PHP);
        self::assertSame('[true,[[[null,""],3]]]', $script->output, $script->errors);
    }

    public function testManyMayAskForTheFirstTimeAtOnce(): void
    {
        $folder = new Folder('files');
        rename(SharedMemory::build('fruits', ['apple']), "$folder/fruits.ks");
        $code = <<<'PHP'
            $ask = function (): array {
                KeySieve\begin_request();
                return [(new Set('fruits'))->mayContain('apple'), (new Set('fruits'))->mayContain('pear')];
            };
            $answers = Switching::run(array_fill(0, 5, $ask));
            echo json_encode([array_unique(array_column($answers, 0)), (new Set('fruits'))->mayContainMany(['apple', 'pear'])]);
            PHP;
        $script = self::switching($code, ['KEYSIEVE_SOURCE' => "files:$folder"]);
        self::assertSame('[[true],[true,false]]', $script->output, $script->errors);
    }

    public function testAWarningOfAnotherIsNoReasonToAnswerMaybe(): void
    {
        SharedMemory::putWithLayer('warned', ['apple']);
        $script = self::switching(<<<'PHP'
            $set = new Set('warned');
            $ask = fn (): array => array_map(fn (int $call): bool => $set->mayContain('pear'), range(1, 20));
            $warn = function (): void {
                for ($time = 0; $time < 20; ++$time) {
                    trigger_error('of the application', E_USER_WARNING);
                    Fiber::suspend();
                }
            };
            echo json_encode(array_unique(array_merge(...array_filter(Switching::run([$ask, $warn, $ask])))));
            PHP);
        self::assertSame(20, substr_count($script->output, 'Warning: of the application'));
        self::assertStringEndsWith('[false]', $script->output);
        self::assertStringNotContainsString('keysieve', $script->errors);
    }

    public function testAPieceThatTwoHaveReadIsKeptOnce(): void
    {
        $script = PhpScript::run(<<<'PHP'
            class_exists(Set::class);
            $bytes = str_repeat('x', 65_000);
            $keep = new ReflectionMethod(KeySieve\Reader\Snapshot::class, 'keep');
            for ($time = 0; $time < 100; ++$time) {
                $keep->invoke(null, 1, $bytes);
            }
            $keep->invoke(null, 2, $bytes);
            echo json_encode(array_keys((new ReflectionProperty(KeySieve\Reader\Snapshot::class, 'kept'))->getValue()));
            PHP);
        self::assertSame('[1,2]', $script->output, $script->errors);
    }

    /** @param array<string, string> $environment */
    private static function switching(string $code, array $environment = []): Program
    {
        $prelude = <<<'PHP'
            use KeySieve\Tests\Support\Switching;
            require SWITCHING;
            class_exists(Set::class);
            Switching::begin();

            PHP;
        $prelude = strtr($prelude, ['SWITCHING' => var_export(__DIR__ . '/Support/Switching.php', true)]);
        return PhpScript::run($prelude . $code, environment: $environment);
    }
}
