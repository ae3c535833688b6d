<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\FrameworkTestCase;
use KeySieve\Tests\Support\Program;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** What the bundle and the provider both do, in each version of Symfony and Laravel that Framework has. */
#[Group('frameworks')]
final class FrameworksTest extends FrameworkTestCase
{
    /** Prints of each tag whether it has an article and how many offers, and which sets were asked about it. */
    private const PRINT_LINKS = <<<'PHP'

        foreach ($links->of(['猫', '犬']) as $link) {
            echo "{$link['tag']}: {$link['article']} {$link['offers']}\n";
        }
        echo implode(' ', array_keys(KeySieve\stats())), "\n";
        PHP;

    public function testComposerAcceptsThePackage(): void
    {
        $file = Examples::path('../php/composer.json');
        self::assertStringContainsString("$file is valid", Program::output(['composer', 'validate', '--strict', '--no-interaction', $file]));
    }

    public function testComposerRefusesAnExtensionThatIsTooOld(): void
    {
        $package = ['type' => 'path', 'url' => Examples::path('../php')];
        $update = function (string $version) use ($package): Program {
            $project = ['repositories' => [$package, ['packagist.org' => false]], 'require' => ['keysieve/reader' => '*'],
                'minimum-stability' => 'dev', 'config' => ['platform' => ['ext-keysieve' => $version]]];
            file_put_contents("{$this->examples->folder}/composer.json", json_encode($project));
            return Program::run(['composer', 'update', '--dry-run', '--no-interaction', "--working-dir={$this->examples->folder}"]);
        };
        self::assertSame(0, $update('0.1.0')->status, $update('0.1.0')->errors);
        self::assertStringContainsString('conflicts with ext-keysieve', $update('0.0.9')->errors);
    }

    /** @return iterable<string, array{string, string}> a framework, and code that makes $links with a fake shop that has none of the tags */
    public static function containers(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            yield $framework => [$framework, <<<'PHP'
                $container = App::container(static function ($container): void {
                    $container->register('keysieve.shop', KeySieve\Testing\ListedKeys::class)->setArguments([['犬']]);
                });
                $links = $container->get(App\TagLinks::class);
                PHP];
        }
        foreach (Framework::laravel() as $framework) {
            yield $framework => [$framework, <<<'PHP'
                $app = App::boot();
                $app->instance('keysieve.shop', new KeySieve\Testing\ListedKeys(['犬']));
                $links = $app->make(App\TagLinks::class);
                PHP];
        }
    }

    /** @return iterable<string, array{string, string}> */
    public static function booted(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            yield $framework => [$framework, 'App::container();'];
        }
        foreach (Framework::laravel() as $framework) {
            yield $framework => [$framework, 'App::boot();'];
        }
    }

    #[DataProvider('booted')]
    public function testTheConfigurationSaysWhereThePackageFindsSets(string $framework, string $boot): void
    {
        $code = 'echo get_debug_type(KeySieve\Reader\Settings::sourceOf("shop"));';
        self::assertSame('KeySieve\Reader\SnapshotFile', $this->code($framework, $boot . $code));
    }

    #[DataProvider('containers')]
    public function testAContainerPassesAFakeToTests(string $framework, string $code): void
    {
        self::assertSame("猫: 猫 0\n犬:  0\nencyclopedia\n", $this->code($framework, $code . self::PRINT_LINKS));
    }

    /** @return iterable<string, array{string, string, string}> a framework, code that makes $clicks, and its class */
    public static function seenSets(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            $code = static fn (string $prepare): string => <<<PHP
                final class Clicks
                {
                    public function __construct(public readonly KeySieve\SeenKeys \$clicks)
                    {
                    }
                }
                \$clicks = App::container(static function (\$container): void {
                    \$container->register(Clicks::class, Clicks::class)->setPublic(true)->setAutowired(true);
                    $prepare
                })->get(Clicks::class)->clicks;
                PHP;
            yield $framework => [$framework, $code(''), 'KeySieve\SeenSet'];
            $fake = '$container->register("keysieve.seen.clicks", KeySieve\Testing\RememberedKeys::class);';
            yield "$framework in a test" => [$framework, $code($fake), 'KeySieve\Testing\RememberedKeys'];
        }
        foreach (Framework::laravel() as $framework) {
            yield $framework => [$framework, '$clicks = App::boot()->make("keysieve.seen.clicks");', 'KeySieve\SeenSet'];
            yield "$framework in a test" => [$framework, <<<'PHP'
                $app = App::boot();
                $app->instance('keysieve.seen.clicks', new KeySieve\Testing\RememberedKeys());
                $clicks = $app->make('keysieve.seen.clicks');
                PHP, 'KeySieve\Testing\RememberedKeys'];
        }
    }

    #[DataProvider('seenSets')]
    public function testAContainerPassesSeenSetsAndFakes(string $framework, string $code, string $class): void
    {
        self::assertSame($class, $this->code($framework, "$code\necho \$clicks::class;"));
    }

    /** @return iterable<string, array{string, string}> a framework, and code that makes its $cache */
    public static function caches(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            yield $framework => [$framework, '$cache = new Symfony\Component\Cache\Psr16Cache(new Symfony\Component\Cache\Adapter\ArrayAdapter());'];
        }
        foreach (Framework::laravel() as $framework) {
            yield $framework => [$framework, '$cache = new Illuminate\Cache\Repository(new Illuminate\Cache\ArrayStore());'];
        }
    }

    /** By the lines of docs/frameworks.md, as they are written. */
    #[DataProvider('caches')]
    public function testACacheIsAskedOnlyForKeysThatMayExist(string $framework, string $code): void
    {
        preg_match('/^## Caches\n.*?^```php\n(.*?)^```\n/ms', file_get_contents(Examples::path('../docs/frameworks.md')), $lines);
        $code .= <<<PHP

            \$cache->setMultiple(['product.42' => 'Cat food', 'product.7' => 'of another site']);
            foreach ([[7, 42, 43], [7]] as \$ids) {
                \$products = new KeySieve\\Testing\\ListedKeys(['42', '43']);
                $lines[1]
                echo json_encode(\$rows), json_encode(\$names), "\\n";
            }
            PHP;
        $output = <<<'JSON'
            {"product.42":"Cat food","product.43":null}{"product.42":42,"product.43":43}
            [][]

            JSON;
        self::assertSame($output, $this->code($framework, $code));
    }

    /** @return iterable<string, array{string, string}> a framework, and code that makes $asks, which asks for 犬 in the next request or job */
    public static function servers(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            yield "$framework, requests" => [$framework, <<<'PHP'
                $app = new App();
                $request = static fn () => Symfony\Component\HttpFoundation\Request::create('/', parameters: ['tag' => '犬']);
                $asks = static fn (): string => $app->handle($request())->getContent();
                PHP];
            yield "$framework, messages" => [$framework, <<<'PHP'
                $container = App::container();
                $asks = static function () use ($container): string {
                    $message = new Symfony\Component\Messenger\Envelope(new stdClass());
                    $container->get('event_dispatcher')
                        ->dispatch(new Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent($message, 'async'));
                    return json_encode($container->get(Asker::class)->articles->mayContain('犬'));
                };
                PHP];
        }
        foreach (Framework::laravel() as $framework) {
            $octane = ['Laravel\Octane\Events\RequestReceived', 'Laravel\Octane\Events\TaskReceived', 'Laravel\Octane\Events\TickReceived'];
            foreach ([...$octane, 'Illuminate\Queue\Events\JobProcessing'] as $event) {
                yield "$framework, $event" => [$framework, <<<PHP
                    \$app = App::boot();
                    \$job = new Illuminate\Queue\Jobs\SyncJob(\$app, '{}', 'sync', 'default'); // for Laravel's own listeners
                    \$asks = static function () use (\$app, \$job): string {
                        \$sandbox = clone \$app; // as Octane does
                        \$sandbox->make('events')->dispatch('$event', [new Illuminate\Queue\Events\JobProcessing('sync', \$job)]);
                        return json_encode(\$sandbox->make('keysieve.encyclopedia')->mayContain('犬'));
                    };
                    PHP];
            }
        }
    }

    #[DataProvider('servers')]
    public function testAServerNoticesAnotherDirectoryAtItsNextRequest(string $framework, string $code): void
    {
        $code .= <<<'PHP'

            echo $asks();
            $articles = new KeySieve\Set('encyclopedia');
            for ($call = 0; $call < 10_000; ++$call) { // from here on a lookup looks only every 4,096 calls
                $articles->mayContain('犬');
            }
            $folder = get_cfg_var('keysieve.directory') . '/encyclopedia';
            rename($folder, "$folder-" . getmypid());
            (new App\Database())->rows("INSERT INTO articles VALUES ('犬', '犬')");
            exec('php ' . FOLDER . '/build.php directory:$KEYSIEVE_DIRECTORY encyclopedia');
            echo ' ', json_encode($articles->mayContain('犬')), ' ', $asks();
            PHP;
        self::assertSame('false false true', $this->code($framework, $code));
    }
}
