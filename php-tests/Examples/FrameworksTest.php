<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\FrameworkTestCase;
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

    #[DataProvider('containers')]
    public function testAContainerPassesAFakeToTests(string $framework, string $code): void
    {
        self::assertSame("猫: 猫 0\n犬:  0\nencyclopedia\n", $this->code($framework, $code . self::PRINT_LINKS));
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
            exec(FOLDER . '/publish encyclopedia');
            echo ' ', json_encode($articles->mayContain('犬')), ' ', $asks();
            PHP;
        self::assertSame('false false true', $this->code($framework, $code));
    }
}
