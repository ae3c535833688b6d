<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\FrameworkTestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** The bundle and the provider, their settings, and their validators and rules, in each version of Symfony and Laravel that Framework has. */
#[Group('frameworks')]
final class FrameworksTest extends FrameworkTestCase
{
    /** @return iterable<string, array{string, string}> a framework, and code that makes $asks, which asks for 犬 in the next request or job */
    public static function servers(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            yield "$framework, requests" => [$framework, <<<'PHP'
                $app = new App();
                $asks = static function () use ($app): string {
                    $app->handle(Symfony\Component\HttpFoundation\Request::create('/no-such-page'));
                    return json_encode($app->getContainer()->get('keysieve.encyclopedia')->mayContain('犬'));
                };
                PHP];
            yield "$framework, messages" => [$framework, <<<'PHP'
                $container = App::container();
                $asks = static function () use ($container): string {
                    $message = new Symfony\Component\Messenger\Envelope(new stdClass());
                    $container->get('event_dispatcher')
                        ->dispatch(new Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent($message, 'async'));
                    return json_encode($container->get('keysieve.encyclopedia')->mayContain('犬'));
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

    /** @return iterable<string, array{string, string, string}> a framework, what code prints, as assertStringMatchesFormat() takes it, and the code */
    public static function calls(): iterable
    {
        foreach (Framework::symfony() as $framework) {
            yield "$framework: names arguments in camel case" => [$framework, 'keysieve.user-names keysieve.user_name keysieve.users ', <<<'PHP'
                $container = new Symfony\Component\DependencyInjection\ContainerBuilder();
                $sets = ['user-names' => null, 'user_name' => null, 'users' => ['argument' => 'the_users']];
                (new KeySieve\Symfony\KeysieveExtension())->load([['sets' => $sets]], $container);
                foreach (['userNames', 'userName', 'theUsers'] as $argument) {
                    echo $container->getAlias("KeySieve\Membership \$$argument"), ' ';
                }
                PHP];
            yield "$framework: a validator asks its set by its own key profile" => [$framework, 'true', <<<'PHP'
                $container = new Symfony\Component\DependencyInjection\ContainerBuilder();
                $settings = ['sets' => ['breached' => ['key_profile' => 'raw']], 'breached_passwords' => 'breached'];
                (new KeySieve\Symfony\KeysieveExtension())->load([$settings], $container);
                $container->getDefinition(KeySieve\Validation\BreachedPasswords::class)->setPublic(true);
                $container->removeDefinition(KeySieve\Symfony\NotBreachedValidator::class); // needs the service validator
                $container->compile();
                echo json_encode($container->get(KeySieve\Validation\BreachedPasswords::class)->has('123456'));
                PHP];
            preg_match('/^## Caches\n.*?^```php\n(.*?)^```\n/ms', file_get_contents(Examples::path('../docs/frameworks.md')), $lines);
            $left = '{"product.42":"Cat food","product.43":null}{"product.42":42,"product.43":43}';
            yield "$framework: a cache is asked only for keys that may exist, by the lines of the page" => [$framework, "$left\n[][]\n", <<<PHP
                \$cache = new Symfony\\Component\\Cache\\Psr16Cache(new Symfony\\Component\\Cache\\Adapter\\ArrayAdapter());
                \$cache->setMultiple(['product.42' => 'Cat food', 'product.7' => 'of another site']);
                foreach ([[7, 42, 43], [7]] as \$ids) {
                    \$products = new KeySieve\\Testing\\ListedKeys(['42', '43']);
                    $lines[1]
                    echo json_encode(\$rows), json_encode(\$names), "\\n";
                }
                PHP];
            yield "$framework: passes a fake to tests" => [$framework, "猫: 猫 0\n犬:  0\nencyclopedia", self::withFake(<<<'PHP'
                $container = App::container(static function ($container): void {
                    $container->register('keysieve.shop', KeySieve\Testing\ListedKeys::class)->setArguments([['犬']]);
                });
                $links = $container->get(App\TagLinks::class);
                PHP)];
            // Any set that took the place of the one that was meant would say "absent" of its keys.
            yield "$framework: refuses a parameter that names no set" => [$framework, 'Cannot autowire service "Misnamed": argument "$ofers" %a"KeySieve\Membership"%a', <<<'PHP'
                final class Misnamed
                {
                    public function __construct(public readonly KeySieve\Membership $ofers)
                    {
                    }
                }
                try {
                    App::container(static function ($container): void {
                        $container->register(Misnamed::class, Misnamed::class)->setPublic(true)->setAutowired(true);
                    });
                } catch (Symfony\Component\DependencyInjection\Exception\RuntimeException $error) {
                    echo $error->getMessage();
                }
                PHP];
            $wrong = [
                "['sets' => ['user-names' => null, 'user_names' => null]]" => 'two sets are for the argument "user_names"',
                "['sets' => ['user_names' => null, 'users' => ['argument' => 'userNames']]]" => 'two sets are for the argument "userNames"',
                "['sets' => ['shop' => null, 'other' => ['argument' => 'shop']]]" => 'two sets are for the argument "shop"',
                "['set' => ['shop' => null]]" => 'Unrecognized option "set" under "keysieve"',
            ];
            foreach ($wrong as $settings => $reason) {
                yield "$framework: refuses $settings" => [$framework, "%A$reason%A", <<<PHP
                    try {
                        (new KeySieve\Symfony\KeysieveExtension())->load([$settings], new Symfony\Component\DependencyInjection\ContainerBuilder());
                    } catch (Symfony\Component\Config\Definition\Exception\InvalidConfigurationException \$error) {
                        echo \$error->getMessage();
                    }
                    PHP];
            }
        }
        foreach (Framework::laravel() as $framework) {
            yield "$framework: passes a fake to tests" => [$framework, "猫: 猫 0\n犬:  0\nencyclopedia", self::withFake(<<<'PHP'
                $app = App::boot();
                $app->instance('keysieve.shop', new KeySieve\Testing\ListedKeys(['犬']));
                $links = $app->make(App\TagLinks::class);
                PHP)];
            yield "$framework: refuses a list of sets" => [$framework, '%A"sets" must be name => key profile%A', <<<'PHP'
                $app = App::boot();
                $app->make('config')->set('keysieve.sets', ['shop']);
                try {
                    (new KeySieve\Laravel\KeysieveServiceProvider($app))->register();
                } catch (InvalidArgumentException $error) {
                    echo $error->getMessage();
                }
                PHP];
            yield "$framework: publishes its settings" => [$framework, '', <<<'PHP'
                unlink(APPLICATION . '/config/keysieve.php');
                App::artisan('vendor:publish', ['--tag' => 'keysieve-config']);
                passthru('diff ' . APPLICATION . '/config/keysieve.php ' . FOLDER . '/../php/src/Laravel/keysieve.php 2>&1');
                PHP];
            yield "$framework: refuses a class that was not told its set" => [$framework, "[true,false]\nTarget [KeySieve\\Membership] is not instantiable while building [Untold].\n" . "Target class [keysieve.ofers] does not exist.\n", <<<'PHP'
                $app = App::boot();
                final class Untold
                {
                    public function __construct(public readonly KeySieve\Membership $offers)
                    {
                    }
                }
                final class Told
                {
                    public function __construct(public readonly KeySieve\Membership $offers)
                    {
                    }
                }
                $app->when(Told::class)->needs(KeySieve\Membership::class)->give('keysieve.shop');
                echo json_encode($app->make(Told::class)->offers->mayContainMany(['2024', '桜'])), "\n";
                foreach ([Untold::class, 'keysieve.ofers'] as $what) {
                    try {
                        $app->make($what);
                    } catch (Illuminate\Contracts\Container\BindingResolutionException $error) {
                        echo $error->getMessage(), "\n";
                    }
                }
                PHP];
            // As when the package comes to an application that has cached its configuration: nothing could clear that if it did not boot.
            yield "$framework: boots with a configuration that was cached before the package came" => [$framework, "[true,false]\n[false,true]\n", <<<'PHP'
                App::cacheSettings(null);
                $app = App::boot();
                echo json_encode([$app->configurationIsCached(), $app->bound('keysieve.shop')]), "\n";
                App::artisan('config:clear');
                $app = App::boot();
                echo json_encode([$app->configurationIsCached(), $app->bound('keysieve.shop')]), "\n";
                PHP];
            yield "$framework: boots with settings that lack what is newer" => [$framework, '[true,false,{"sets":{"shop":null},"source":null,"seen_sets":[],"sources":[],"disposable_domains":null,"breached_passwords":null,"adds":null}]', <<<'PHP'
                App::cacheSettings(['sets' => ['shop' => null]]);
                $app = App::boot();
                echo json_encode([$app->bound('keysieve.shop'), $app->bound(KeySieve\Validation\BreachedPasswords::class), $app['config']['keysieve']]);
                PHP];
        }
    }

    #[DataProvider('calls')]
    public function testDoesWhatItsSettingsSay(string $framework, string $expected, string $code): void
    {
        self::assertStringMatchesFormat($expected, $this->code($framework, $code));
    }

    /** Prints of each tag whether it has an article and how many offers, and which sets were asked about it. */
    private static function withFake(string $code): string
    {
        return $code . <<<'PHP'

            foreach ($links->of(['猫', '犬']) as $link) {
                echo "{$link['tag']}: {$link['article']} {$link['offers']}\n";
            }
            echo implode(' ', array_keys(KeySieve\stats()));
            PHP;
    }

    /** As a file says it; ApplicationsTest has attributes. */
    #[DataProvider('symfony')]
    public function testTheValidatorsOfSymfonyRefuseWhatIsListed(string $framework): void
    {
        $code = <<<'PHP'
            final class Registration
            {
                public function __construct(public string $email, public string|int $password)
                {
                }
            }
            mkdir(APPLICATION . '/config/validator');
            file_put_contents(APPLICATION . '/config/validator/registration.yaml', <<<'YAML'
                Registration:
                    properties:
                        email:
                            - KeySieve\Symfony\NotDisposable: ~
                        password:
                            - KeySieve\Symfony\NotBreached: { message: Known., groups: [Default, strict], payload: warning }
                YAML);
            $validator = App::container()->get('validator');
            $listed = new Registration('me@a.trash.example', 123456);
            foreach ([[$listed, null], [$listed, 'strict'], [new Registration('me@example.org', 'correct horse battery staple'), null], [new Registration('', ''), null]] as [$registration, $group]) {
                foreach ($validator->validate($registration, null, $group) as $violation) {
                    $constraint = $violation->getConstraint();
                    echo $violation->getPropertyPath(), ': ', $violation->getMessage(), ' ', $constraint::getErrorName($violation->getCode()), " $constraint->payload\n";
                }
            }
            PHP;
        $password = "password: Known. BREACHED_ERROR warning\n";
        self::assertSame("email: Please use a permanent e-mail address. DISPOSABLE_ERROR \n$password$password", $this->code($framework, $code));
    }
}
