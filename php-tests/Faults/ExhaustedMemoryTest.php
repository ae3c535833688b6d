<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\StarvedScript;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** Memory runs out in a lookup: the system's at each allocation in turn, and PHP's own. */
#[Group('faults')]
final class ExhaustedMemoryTest extends TestCase
{
    /** @return iterable<string, array{string, mixed[], mixed}> a call, what it may answer without memory, and what it answers later */
    public static function calls(): iterable
    {
        yield 'may_contain' => ["KeySieve\\may_contain('starved', 'apple')", [true], true];
        yield 'an object made without memory' => ["(\$set ??= new Set('starved'))->mayContainMany(['apple', 'pear'])", [[true, true], [true, false]], [true, false]];
        yield 'a call inside a call' => ["(\$set ??= new Set('starved'))->mayContainMany((function () use (\$set) { \$set->mayContain('pear'); yield from ['apple', 'pear']; })())", [[true, true], [true, false]], [true, false]];
        yield 'the name of another set' => ["(new Set('starved', throw: true))->mayContainMany((function () { KeySieve\\may_contain(str_repeat('y', 60), 'pear'); yield str_repeat('J', 60); })())", ['starved', str_repeat('y', 60), [false]], [false]];
        yield 'several sets' => ["[new Set('other1'), new Set('other2'), KeySieve\\candidate_sets(['starved'], 'apple')][2]", [['starved']], ['starved']];
        yield 'phpinfo' => ["[new Set('starved'), ob_start(), (new ReflectionExtension('keysieve'))->info(), str_contains(ob_get_clean(), 'keysieve.directory')][3]", [true], true];
        yield 'an exception' => ["(new Set('nowhere', throw: true))->mayContain('apple')", ['nowhere'], 'nowhere'];
        yield 'info' => ["(new Set('starved'))->info()?->keyCount", [null, 1], 1];
        yield 'addIfNew' => ["(new KeySieve\\SeenSet('starved-clicks'))->addIfNew('apple')", [true, 'starved-clicks'], false]; // throws until it has found the page
    }

    /** @param mixed[] $possible */
    #[DataProvider('calls')]
    public function testTheFirstCallOfAProcessAnswersAsForAMissingSet(string $call, array $possible, mixed $later): void
    {
        SharedMemory::put('starved', ['apple'], ['--key-profile', 'a name that must be copied']);
        $tried = 0;
        foreach (['false', 'true'] as $lasts) {
            for ($number = 1;; ++$number) {
                unset($windows); // its memory, before it is made anew
                $windows = SeenWindows::open('starved-clicks');
                $script = StarvedScript::run(<<<PHP
                    \$set = null;
                    \$call = static function () use (&\$set): mixed {
                        return $call;
                    };
                    \$ask = static function (callable \$call): mixed {
                        try {
                            return \$call();
                        } catch (UnavailableException \$exception) {
                            return \$exception->set;
                        }
                    };
                    \$first = \$ask(static fn () => \$starve($number, $lasts, \$call));
                    \$ask(\$call);
                    echo json_encode([\$made, \$first, \$ask(\$call)]);
                    PHP);
                $which = "allocation $number, lasts: $lasts: $script->output$script->errors";
                ++$tried;
                self::assertSame(0, $script->status, $which);
                [$made, $first, $last] = json_decode($script->output, true, flags: JSON_THROW_ON_ERROR);
                self::assertContains($first, $possible, $which);
                self::assertSame($later, $last, $which);
                if ($made < $number) {
                    break;
                }
            }
        }
        Soak::report("memory exhausted in a first call ($call): $tried allocations");
        self::assertGreaterThan(10, $tried);
    }

    /** A worker that lives on: the folder of its set is replaced by one with another key, again and again. */
    public function testALookupThatFindsAnotherFolderAnswersMaybeAndThenRightly(): void
    {
        $others = new Folder('others', 0755);
        foreach (['apple', 'pear'] as $key) {
            SharedMemory::put('starved', [$key]);
            rename(SharedMemory::folder('starved'), "$others/$key");
        }
        $script = StarvedScript::run("\$others = '$others';\n\$folder = '" . SharedMemory::folder('starved') . "';\n" . <<<'PHP'
            $replace = static function (string $key) use ($others, $folder): void {
                is_dir("$folder.new") || mkdir("$folder.new", 0755);
                foreach (scandir("$others/$key") as $name) {
                    is_file("$others/$key/$name") && copy("$others/$key/$name", "$folder.new/$name");
                }
                array_map(unlink(...), glob("$folder/*"));
                is_dir($folder) && rmdir($folder);
                rename("$folder.new", $folder);
                KeySieve\begin_request();
            };
            $replace('pear');
            $set = new Set('starved');
            $set->mayContain('pear');
            $tried = 0;
            foreach ([false, true] as $lasts) {
                for ($number = 1; ; ++$number) {
                    [$old, $new] = $number % 2 === 1 ? ['pear', 'apple'] : ['apple', 'pear'];
                    $replace($old);
                    $set->mayContain($old);
                    $replace($new);
                    $answer = $starve($number, $lasts, static fn () => $set->mayContain($new));
                    $later = $set->mayContainMany([$old, $new]);
                    ++$tried;
                    if ($answer !== true || $later !== [false, true]) {
                        exit("allocation $number, lasts: " . json_encode([$lasts, $answer, $later]));
                    }
                    if ($made < $number) {
                        break;
                    }
                }
            }
            echo $tried;
            PHP);
        self::assertSame(0, $script->status, $script->errors);
        self::assertGreaterThan(10, (int) $script->output, $script->output . $script->errors);
        Soak::report("memory exhausted in a lookup of a worker: $script->output allocations");
    }

    /** PHP ends the request; the worker goes on. */
    public function testTheNextRequestAfterMemoryLimitIsAnsweredRightly(): void
    {
        SharedMemory::put('limited', ['apple']);
        $pool = new FpmPool(<<<'PHP'
            $set = new KeySieve\Set('limited');
            if ($_SERVER['QUERY_STRING'] === 'too-much') {
                $keys = array_fill(0, 100_000, 'pear');
                ini_set('memory_limit', memory_get_usage(true));
                $set->mayContainMany($keys);
            }
            echo json_encode([getmypid(), $set->mayContainMany(['apple', 'pear'])]);
            PHP, ['pages' => ['pm.max_children' => '1']]);
        [$worker] = json_decode($pool->request()->body());
        for ($request = 0; $request < 20; ++$request) {
            self::assertStringNotContainsString("[$worker", $pool->request('too-much')->body());
            self::assertSame("[$worker,[true,false]]", $pool->request()->body());
        }
    }
}
