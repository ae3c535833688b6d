<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** Real requests to a real php-fpm, with opcache and JIT; its workers live through all that is published, and serve sites with settings of their own. */
final class FpmTest extends TestCase
{
    private const REQUESTS = 100;
    private const TEXT_BYTES = 50_000; // of the reason that phpinfo() prints

    private const PAGE = <<<'PHP'
        $answers = (new KeySieve\Set('site'))->mayContainMany(['apple', 'pear']);
        ob_start();
        (new ReflectionExtension('keysieve'))->info();
        preg_match_all('~((?:Seen s|S)et \S+) </td><td class="v">(\w+)~', ob_get_clean(), $rows);
        echo json_encode([
            'worker' => getmypid(),
            'answers' => $answers,
            'calls' => array_map(static fn (array $row): int => $row['calls'], KeySieve\stats()),
            'shown' => array_combine($rows[1], $rows[2]),
            'function' => [KeySieve\may_contain('site', 'apple'), KeySieve\may_contain('site', 'pear')],
            'sets' => [KeySieve\candidate_sets(['site'], 'apple'), KeySieve\candidate_sets(['site'], 'pear')],
        ]);
        PHP;

    private const ANSWERS = 'echo json_encode((new KeySieve\Set($_SERVER["QUERY_STRING"]))->mayContainMany(["apple", "pear"]));';

    private static function directoryOf(string $site): string
    {
        return SharedMemory::directory() . "-$site";
    }

    /** Publishes a set of one key for that site. */
    private static function publish(string $site, string $key): void
    {
        $directory = self::directoryOf($site);
        mkdir($directory);
        $snapshot = SharedMemory::build('site', [$key]);
        Program::keysieve('publish', '--directory', $directory, '--group', 'nogroup', $snapshot);
    }

    public static function setUpBeforeClass(): void
    {
        self::needsRoot();
        self::publish('apples', 'apple');
        self::publish('pears', 'pear');
    }

    public function testAWorkerLogsAnUnknownSetOnceAndFindsItWhenItIsPublished(): void
    {
        $ask = 'echo json_encode([...(new KeySieve\Set("fpm-unknown"))->mayContainMany(["apple", "pear"]), opcache_get_status(false)["jit"]["on"]]);';
        $pool = new FpmPool($ask, ['pages' => ['pm.max_children' => '1']]);
        for ($round = 0; $round < 10; ++$round) {
            self::assertSame('[true,true,true]', $pool->request()->body());
        }
        $logged = static fn (string $line): int => substr_count(file_get_contents($pool->log), "set \"fpm-unknown\" is $line");
        self::assertSame(1, $logged('missing'));
        SharedMemory::put('fpm-unknown', ['apple']);
        self::assertSoon(static fn (): bool => $pool->request()->body() === '[true,false,true]');
        self::assertSame(1, $logged('ready again'));
    }

    public function testEachSiteIsAnsweredFromItsOwnDirectory(): void
    {
        $pool = new FpmPool(self::PAGE, ['pages' => ['pm.max_children' => '1']]);
        $workers = [];
        for ($round = 0; $round < 3; ++$round) {
            foreach (['apples' => [true, false], 'pears' => [false, true]] as $site => $expected) {
                $page = self::ask($pool, 'keysieve.directory=' . self::directoryOf($site));
                self::assertSame($expected, $page['answers'], "$site, round $round");
                self::assertSame($expected, $page['function']);
                self::assertSame(array_map(static fn (bool $may): array => $may ? ['site'] : [], $expected), $page['sets']);
                self::assertSame(['site' => 1 + 5 * $round], $page['calls'], 'of this site alone');
                self::assertSame(['Set site' => 'ready'], $page['shown']);
                $workers[] = $page['worker'];
            }
        }
        self::assertCount(1, array_unique($workers));
    }

    public function testSectionsOfHostsHoldForTheirRequestsAlone(): void
    {
        $ini = 'keysieve.directory = ' . self::directoryOf('none') . "\n";
        foreach (['apples', 'pears'] as $site) {
            $ini .= "[HOST=$site.example]\nkeysieve.directory = " . self::directoryOf($site) . "\n";
        }
        $directives = ['pm.max_children' => '1', 'php_admin_value[keysieve.directory]' => null];
        $pool = new FpmPool(self::PAGE, ['pages' => $directives], ini: $ini);
        $expected = ['apples' => [true, false], 'pears' => [false, true], 'other' => [true, true]];
        for ($round = 0; $round < 3; ++$round) {
            foreach ($expected as $site => $answers) {
                $body = $pool->request(parameters: ['SERVER_NAME' => "$site.example"])->body();
                self::assertSame($answers, json_decode($body, true)['answers'], "$site, round $round");
            }
        }
    }

    public function testEachSiteTrustsItsOwnOwner(): void
    {
        self::needsRoot();
        self::publish('foreign', 'apple');
        Program::output(['chown', '-R', '54321', self::directoryOf('foreign') . '/site']);
        $pool = new FpmPool(self::PAGE, ['pages' => [
            'pm.max_children' => '1',
            'php_admin_value[keysieve.directory]' => self::directoryOf('foreign'),
        ]]);
        foreach (['nobody' => [true, true], '54321' => [true, false]] as $owner => $expected) {
            for ($round = 0; $round < 2; ++$round) {
                self::assertSame($expected, self::ask($pool, "keysieve.owner=$owner")['answers'], "$owner, round $round");
            }
        }
        self::assertSame([true, true], self::ask($pool, 'keysieve.owner=nobody')['answers']);
    }

    /** The owner is known by a name, which cannot be looked up in there. */
    public function testAWorkerInAChrootAnswers(): void
    {
        SharedMemory::publish(SharedMemory::build('chrooted', ['apple']), ['--group', 'www-data']);
        Program::output(['chown', '-R', 'daemon', SharedMemory::folder('chrooted')]);
        $pool = new FpmPool(
            self::ANSWERS,
            ['pages' => ['chroot' => sys_get_temp_dir(), 'user' => 'www-data', 'php_admin_value[error_log]' => null]],
            settings: ['keysieve.owner' => 'daemon'],
        );
        self::assertSame('[true,false]', $pool->request('chrooted')->body());
    }

    public function testAWorkerUnderOpenBasedirAnswersFromFilesThatItMayNotRead(): void
    {
        SharedMemory::put('based', ['apple']);
        $read = 'echo json_encode(@file_get_contents(' . var_export(SharedMemory::folder('based') . '/control', true) . '));';
        $pool = new FpmPool($read . self::ANSWERS, ['pages' => ['php_admin_value[open_basedir]' => '{folder}']]);
        self::assertSame('false[true,false]', $pool->request('based')->body());
    }

    /** One master, three pools: one runs as the set's owner, one is in its group, one is neither and is told nothing. */
    public function testOnlyPoolsOfTheOwnerAndItsGroupReadTheSet(): void
    {
        SharedMemory::publish(SharedMemory::build('shared', ['apple']), ['--group', 'www-data']);
        $pool = new FpmPool(self::ANSWERS, [
            'owner' => [],
            'member' => ['user' => 'daemon', 'group' => 'www-data'],
            'strange' => ['user' => 'nobody', 'group' => 'nogroup'],
        ]);
        $answers = array_map(static fn (string $name): string => $pool->request('shared', $name)->body(), ['owner', 'member', 'strange']);
        self::assertSame(['[true,false]', '[true,false]', '[true,true]'], $answers);
        self::assertStringContainsString('Permission denied', file_get_contents($pool->log));
    }

    /** @return iterable<string, array{string}> */
    public static function preloadDirectories(): iterable
    {
        yield 'under the settings of another site' => ['apples'];
        yield 'under the same settings' => ['pears'];
    }

    /** The master runs the preload script itself where it is not root's, with the settings of php.ini. */
    #[DataProvider('preloadDirectories')]
    public function testAPreloadScriptLeavesNothingToTheWorkers(string $preloaded): void
    {
        $script = SharedMemory::directory() . '/preload-sites.php';
        file_put_contents($script, <<<'PHP'
            <?php
            final class Asking
            {
                public static ?KeySieve\Set $set = null;

                public static function answer(): bool
                {
                    return (new KeySieve\Set('site'))->mayContain('pear');
                }
            }
            Asking::$set = new KeySieve\Set('site');
            (new KeySieve\SeenSet('site'))->availability();
            KeySieve\may_contain('site', 'apple') !== Asking::$set->mayContain('pear') || exit(1);
            PHP);
        $pool = new FpmPool(
            "Asking::\$set === null && Asking::answer() || exit('an object or an answer has survived');\n" . self::PAGE,
            ['pages' => ['pm.max_children' => '1', 'php_admin_value[keysieve.directory]' => self::directoryOf('pears')]],
            settings: [
                'keysieve.directory' => self::directoryOf($preloaded),
                'opcache.preload' => $script,
            ],
            user: 'nobody',
        );
        $page = json_decode($pool->request()->body(), true, flags: JSON_THROW_ON_ERROR);
        self::assertSame([false, true], $page['answers']);
        self::assertSame(['site' => 2], $page['calls'], 'of the worker alone');
        self::assertSame(['Set site' => 'ready'], $page['shown']);
    }

    /** PHP ends a script by a longjmp, which runs no destructors, after a fatal error. */
    #[Group('unsanitized')]
    public function testAFatalErrorInPhpinfoLeavesNothingInTheWorker(): void
    {
        $pool = new FpmPool(<<<'PHP'
            echo 'begun'; // with a status that no error changes
            flush();
            $end = static fn (): string => eval('class Twice { const IT = 1; const IT = 2; }');
            (new KeySieve\Set('nowhere'))->mayContain('apple');
            ob_start(static fn (string $text): string => str_contains($text, 'Set nowhere') ? $end() : '', 1);
            (new ReflectionExtension('keysieve'))->info();
            echo 'finished';
            PHP, [
            'pages' => ['pm.max_children' => '1', 'php_admin_value[keysieve.directory]' => null],
        ], settings: ['keysieve.directory' => '/' . str_repeat('d', self::TEXT_BYTES), 'display_errors' => '0']);
        $ask = static fn (int $number): bool => str_contains($pool->request((string) $number)->body(), 'finished');
        array_map($ask, range(1, 20));
        [$worker] = $pool->workers();
        $before = self::kibibytesOf($worker);
        self::assertNotContains(true, array_map($ask, range(1, self::REQUESTS)));
        self::assertSame([$worker], $pool->workers());
        self::assertLessThan(self::REQUESTS * self::TEXT_BYTES / 1_024 / 2, self::kibibytesOf($worker) - $before);
    }

    /** @return array<string, mixed> */
    private static function ask(FpmPool $pool, string $setting): array
    {
        $body = $pool->request(parameters: ['PHP_ADMIN_VALUE' => $setting])->body();
        return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    }

    private static function kibibytesOf(int $process): int
    {
        self::assertSame(1, preg_match('/^RssAnon:\s+(\d+) kB$/m', file_get_contents("/proc/$process/status"), $found));
        return (int) $found[1];
    }
}
