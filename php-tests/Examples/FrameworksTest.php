<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use KeySieve\Validation\PasswordKey;

/**
 * The bundle, the provider, and the examples' files for both, in each version of Symfony and Laravel that Framework has.
 *
 * @group frameworks
 */
final class FrameworksTest extends TestCase
{
    /** Prints of each tag whether it has an article and how many offers, and which sets were asked about it. */
    private const PRINT_LINKS = <<<'PHP'

        foreach ($links->of(['猫', '犬']) as $link) {
            echo "{$link['tag']}: {$link['article']} {$link['offers']}\n";
        }
        echo implode(' ', array_keys(KeySieve\stats())), "\n";
        PHP;

    private Examples $examples;

    protected function setUp(): void
    {
        $this->examples = new Examples();
        $this->examples->setUp('encyclopedia', 'shop', 'disposable');
        SharedMemory::put('breached', [PasswordKey::of('123456')], ['--key-profile', PasswordKey::PROFILE]);
    }

    public function testComposerAcceptsThePackage(): void
    {
        $file = Examples::path('../php/composer.json');
        self::assertStringContainsString("$file is valid", Program::output(['composer', 'validate', '--strict', '--no-interaction', $file]));
    }

    /** @return iterable<string, array{string}> */
    public static function symfony(): iterable
    {
        foreach (Framework::SYMFONY as $framework) {
            yield $framework => [$framework];
        }
    }

    /** @return iterable<string, array{string}> */
    public static function laravel(): iterable
    {
        foreach (Framework::LARAVEL as $framework) {
            yield $framework => [$framework];
        }
    }

    /** @return iterable<string, array{string, string, string}> a framework, code that makes $links, and what the links and their sets are */
    public static function containers(): iterable
    {
        $ofSets = "猫: 猫 2\n犬:  0\nencyclopedia shop\n";
        $withFakeShop = "猫: 猫 0\n犬:  0\nencyclopedia\n";
        foreach (Framework::SYMFONY as $framework) {
            yield "$framework wires sets by the names of arguments" => [$framework, <<<'PHP'
                $container = App::container();
                $links = $container->get(App\TagLinks::class);
                $asker = $container->get(Asker::class);
                echo json_encode([$asker->articles->mayContain('犬'), $asker->offers->mayContain('2024')]), "\n";
                PHP, "[false,true]\n$ofSets"];
            yield "$framework passes a fake to tests" => [$framework, <<<'PHP'
                $container = App::container(static function ($container): void {
                    $container->register('keysieve.shop', KeySieve\Testing\ListedKeys::class)->setArguments([['犬']]);
                });
                $links = $container->get(App\TagLinks::class);
                PHP, $withFakeShop];
        }
        foreach (Framework::LARAVEL as $framework) {
            yield "$framework binds sets of its configuration" => [$framework, '$links = App::boot()->make(App\TagLinks::class);', $ofSets];
            yield "$framework passes a fake to tests" => [$framework, <<<'PHP'
                $app = App::boot();
                $app->instance('keysieve.shop', new KeySieve\Testing\ListedKeys(['犬']));
                $links = $app->make(App\TagLinks::class);
                PHP, $withFakeShop];
        }
    }

    /** @dataProvider containers */
    public function testAContainerPassesTheSetsOfAPage(string $framework, string $code, string $output): void
    {
        self::assertSame($output, $this->code($framework, $code . self::PRINT_LINKS));
    }

    /** @return iterable<string, array{string, string, string}> a framework, code that makes $clicks, and its class */
    public static function seenSets(): iterable
    {
        foreach (Framework::SYMFONY as $framework) {
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
        foreach (Framework::LARAVEL as $framework) {
            yield $framework => [$framework, '$clicks = App::boot()->make("keysieve.seen.clicks");', 'KeySieve\SeenSet'];
            yield "$framework in a test" => [$framework, <<<'PHP'
                $app = App::boot();
                $app->instance('keysieve.seen.clicks', new KeySieve\Testing\RememberedKeys());
                $clicks = $app->make('keysieve.seen.clicks');
                PHP, 'KeySieve\Testing\RememberedKeys'];
        }
    }

    /** @dataProvider seenSets */
    public function testAContainerPassesSeenSetsAndFakes(string $framework, string $code, string $class): void
    {
        self::assertSame($class, $this->code($framework, "$code\necho \$clicks::class;"));
    }

    /**
     * Any set that took the place of the one that was meant would say "absent" of its keys.
     *
     * @dataProvider symfony
     */
    public function testSymfonyRefusesAParameterThatNamesNoSet(string $framework): void
    {
        $code = <<<'PHP'
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
            PHP;
        self::assertMatchesRegularExpression(
            '/Cannot autowire service "Misnamed": argument "\$ofers" .*"KeySieve\\\\Membership"/',
            $this->code($framework, $code),
        );
    }

    /** @dataProvider laravel */
    public function testLaravelRefusesAClassThatWasNotToldItsSet(string $framework): void
    {
        $code = <<<'PHP'
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
            PHP;
        self::assertSame(
            "[true,false]\nTarget [KeySieve\\Membership] is not instantiable while building [Untold].\n"
                . "Target class [keysieve.ofers] does not exist.\n",
            $this->code($framework, $code),
        );
    }

    /** @dataProvider symfony */
    public function testTheValidatorsOfSymfonyRefuseWhatIsListed(string $framework): void
    {
        $code = <<<'PHP'
            final class Registration
            {
                #[KeySieve\Symfony\NotDisposable]
                public string $email = 'me@a.trash.example';
                #[KeySieve\Symfony\NotBreached(message: 'Known.')]
                public string|int $password = 123456;
            }
            $registration = new Registration();
            $validator = App::container()->get('validator');
            $say = static function () use ($validator, $registration): void {
                foreach ($validator->validate($registration) as $violation) {
                    $code = $violation->getConstraint()::getErrorName($violation->getCode());
                    echo $violation->getPropertyPath(), ': ', $violation->getMessage(), " $code ";
                }
                echo "\n";
            };
            $say();
            [$registration->email, $registration->password] = ['me@example.org', 'correct horse battery staple'];
            $say();
            [$registration->email, $registration->password] = ['', ''];
            $say();
            PHP;
        self::assertSame(
            "email: Please use a permanent e-mail address. DISPOSABLE_ERROR password: Known. BREACHED_ERROR \n\n\n",
            $this->code($framework, $code),
        );
    }

    /** @dataProvider laravel */
    public function testTheRulesOfLaravelRefuseWhatIsListed(string $framework): void
    {
        $code = <<<'PHP'
            $app = App::boot();
            foreach ([['me@a.trash.example', 123456], ['me@example.org', 'correct horse battery staple']] as [$email, $password]) {
                $rules = ['email' => 'required|not_disposable', 'password' => 'required|not_breached'];
                echo json_encode($app->make('validator')->make(['email' => $email, 'password' => $password], $rules)->errors()), "\n";
            }
            PHP;
        self::assertSame(
            '{"email":["Please use a permanent e-mail address."],'
                . '"password":["This password is in a list of known passwords. Please choose another one."]}' . "\n[]\n",
            $this->code($framework, $code),
        );
    }

    /** @return iterable<string, array{string, string, string}> a framework, a file of constraints, and what is in it */
    public static function constraintFiles(): iterable
    {
        foreach (Framework::SYMFONY as $framework) {
            yield "$framework, YAML" => [$framework, 'registration.yaml', <<<'YAML'
                Registration:
                    properties:
                        email:
                            - KeySieve\Symfony\NotDisposable: ~
                        password:
                            - KeySieve\Symfony\NotBreached: { message: Known., groups: [Default, strict], payload: warning }
                YAML];
            yield "$framework, XML" => [$framework, 'registration.xml', <<<'XML'
                <constraint-mapping xmlns="http://symfony.com/schema/dic/constraint-mapping">
                    <class name="Registration">
                        <property name="email">
                            <constraint name="KeySieve\Symfony\NotDisposable"/>
                        </property>
                        <property name="password">
                            <constraint name="KeySieve\Symfony\NotBreached">
                                <option name="message">Known.</option>
                                <option name="groups"><value>Default</value><value>strict</value></option>
                                <option name="payload">warning</option>
                            </constraint>
                        </property>
                    </class>
                </constraint-mapping>
                XML];
        }
    }

    /** @dataProvider constraintFiles */
    public function testConstraintsOfAFileHaveTheirOptions(string $framework, string $file, string $constraints): void
    {
        mkdir("{$this->examples->folder}/config/validator", recursive: true);
        file_put_contents("{$this->examples->folder}/config/validator/$file", $constraints);
        $code = <<<'PHP'
            final class Registration
            {
                public string $email = 'me@trash.example';
                public string $password = '123456';
            }
            $validator = App::container()->get('validator');
            foreach ([null, 'strict'] as $group) {
                foreach ($validator->validate(new Registration(), null, $group) as $violation) {
                    echo $violation->getMessage(), $violation->getConstraint()->payload ?? '', "\n";
                }
            }
            PHP;
        self::assertSame("Please use a permanent e-mail address.\nKnown.warning\nKnown.warning\n", $this->code($framework, $code));
    }

    /** @return iterable<string, array{string, string, string}> a framework, its settings, and what is wrong */
    public static function wrongSettings(): iterable
    {
        foreach (Framework::SYMFONY as $framework) {
            $alike = 'two sets are for the argument "user_names"';
            yield "$framework, two names alike" => [$framework, "['sets' => ['user-names' => null, 'user_names' => null]]", $alike];
            $named = "['sets' => ['user_names' => null, 'users' => ['argument' => 'userNames']]]";
            yield "$framework, a name and an argument alike" => [$framework, $named, 'two sets are for the argument "userNames"'];
            $other = "['sets' => ['shop' => null, 'other' => ['argument' => 'shop']]]";
            yield "$framework, the name of another" => [$framework, $other, 'two sets are for the argument "shop"'];
            yield "$framework, no such setting" => [$framework, "['set' => ['shop' => null]]", 'Unrecognized option "set" under "keysieve"'];
        }
    }

    /** @dataProvider wrongSettings */
    public function testSymfonyRefusesSettingsThatAreAmbiguous(string $framework, string $settings, string $reason): void
    {
        $code = <<<PHP
            try {
                (new KeySieve\Symfony\KeysieveExtension())->load([$settings], new Symfony\Component\DependencyInjection\ContainerBuilder());
            } catch (Symfony\Component\Config\Definition\Exception\InvalidConfigurationException \$error) {
                echo \$error->getMessage();
            }
            PHP;
        self::assertStringContainsString($reason, $this->code($framework, $code));
    }

    /** @dataProvider symfony */
    public function testSymfonyNamesArgumentsInCamelCase(string $framework): void
    {
        $code = <<<'PHP'
            $container = new Symfony\Component\DependencyInjection\ContainerBuilder();
            $sets = ['user-names' => null, 'user_name' => null, 'users' => ['argument' => 'the_users']];
            (new KeySieve\Symfony\KeysieveExtension())->load([['sets' => $sets]], $container);
            foreach (['userNames', 'userName', 'theUsers'] as $argument) {
                echo $container->getAlias("KeySieve\Membership \$$argument"), ' ';
            }
            PHP;
        self::assertSame('keysieve.user-names keysieve.user_name keysieve.users ', $this->code($framework, $code));
    }

    /** @dataProvider symfony */
    public function testAValidatorAsksItsSetByItsOwnKeyProfile(string $framework): void
    {
        $code = <<<'PHP'
            $container = new Symfony\Component\DependencyInjection\ContainerBuilder();
            $settings = ['sets' => ['breached' => ['key_profile' => 'raw']], 'breached_passwords' => 'breached'];
            (new KeySieve\Symfony\KeysieveExtension())->load([$settings], $container);
            $container->getDefinition(KeySieve\Validation\BreachedPasswords::class)->setPublic(true);
            $container->removeDefinition(KeySieve\Symfony\NotBreachedValidator::class); // needs the service validator
            $container->compile();
            echo json_encode($container->get(KeySieve\Validation\BreachedPasswords::class)->has('123456'));
            PHP;
        self::assertSame('true', $this->code($framework, $code));
    }

    /** @dataProvider laravel */
    public function testLaravelRefusesAListOfSets(string $framework): void
    {
        $code = <<<'PHP'
            $app = App::boot();
            $app->make('config')->set('keysieve.sets', ['shop']);
            try {
                (new KeySieve\Laravel\KeysieveServiceProvider($app))->register();
            } catch (InvalidArgumentException $error) {
                echo $error->getMessage();
            }
            PHP;
        self::assertStringContainsString('"sets" must be name => key profile', $this->code($framework, $code));
    }

    /**
     * As when the package comes to an application that has cached its configuration: nothing could clear that if it did not boot.
     *
     * @dataProvider laravel
     */
    public function testLaravelBootsWithAConfigurationThatWasCachedBeforeThePackageCame(string $framework): void
    {
        $code = <<<'PHP'
            App::cacheSettings([]);
            $app = App::boot();
            echo json_encode([$app->configurationIsCached(), $app->bound('keysieve.shop')]), "\n";
            App::artisan(Illuminate\Foundation\Console\ConfigClearCommand::class);
            $app = App::boot();
            echo json_encode([$app->configurationIsCached(), $app->bound('keysieve.shop')]), "\n";
            PHP;
        self::assertSame("[true,false]\n[false,true]\n", $this->code($framework, $code));
    }

    /** @dataProvider laravel */
    public function testLaravelBootsWithSettingsThatLackWhatIsNewer(string $framework): void
    {
        $code = <<<'PHP'
            App::cacheSettings(['keysieve' => ['sets' => ['shop' => null]]]);
            $app = App::boot();
            echo json_encode([$app->bound('keysieve.shop'), $app->bound(KeySieve\Validation\BreachedPasswords::class), $app['config']['keysieve']]);
            PHP;
        $settings = '{"sets":{"shop":null},"seen_sets":[],"disposable_domains":null,"breached_passwords":null}';
        self::assertSame("[true,false,$settings]", $this->code($framework, $code));
    }

    /** @dataProvider laravel */
    public function testLaravelPublishesTheSettings(string $framework): void
    {
        $code = <<<'PHP'
            unlink(TEMPORARY . '/config/keysieve.php');
            App::artisan(Illuminate\Foundation\Console\VendorPublishCommand::class, ['--tag' => 'keysieve-config']);
            echo file_get_contents(TEMPORARY . '/config/keysieve.php');
            PHP;
        self::assertStringEqualsFile(Examples::path('../php/src/Laravel/keysieve.php'), $this->code($framework, $code));
    }

    /** @return iterable<string, array{string, string}> a framework, and code that makes guarded caches of it */
    public static function caches(): iterable
    {
        foreach (Framework::SYMFONY as $framework) {
            yield $framework => [$framework, <<<'PHP'
                $pool = new Symfony\Component\Cache\Adapter\ArrayAdapter();
                $guarded = new KeySieve\Guard\GuardedCachePool($pool, new KeySieve\Testing\ListedKeys(['42']), 'product.');
                foreach (['product.42', 'product.7'] as $key) {
                    $guarded->save($guarded->getItem($key)->set('Cat food')->expiresAfter(60));
                }
                echo json_encode([$guarded->getItem('product.42')->get(), $guarded->getItem('product.7')->get(), $pool->hasItem('product.7')]);
                PHP];
        }
        foreach (Framework::LARAVEL as $framework) {
            yield $framework => [$framework, <<<'PHP'
                $cache = new Illuminate\Cache\Repository(new Illuminate\Cache\ArrayStore());
                $guarded = new KeySieve\Guard\GuardedCache($cache, new KeySieve\Testing\ListedKeys(['42']), 'product.');
                $guarded->setMultiple(['product.42' => 'Cat food', 'product.7' => 'Cat food'], 60);
                echo json_encode([$guarded->get('product.42'), $guarded->get('product.7'), $cache->has('product.7')]);
                PHP];
        }
    }

    /**
     * Each version has its own PSR-6 or PSR-16, which differ in their types. GuardTest has the details.
     *
     * @dataProvider caches
     */
    public function testAGuardWrapsTheCache(string $framework, string $code): void
    {
        self::assertSame('["Cat food",null,true]', $this->code($framework, $code));
    }

    /** @return iterable<string, array{string, string}> a framework, and code that makes $asks, which asks for 犬 in the next request or job */
    public static function servers(): iterable
    {
        foreach (Framework::SYMFONY as $framework) {
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
        foreach (Framework::LARAVEL as $framework) {
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

    /** @dataProvider servers */
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

    private function code(string $framework, string $code): string
    {
        $autoloaders = Framework::autoloaders($framework);
        $constants = ['FRAMEWORK' => $framework, 'AUTOLOADERS' => $autoloaders, 'TEMPORARY' => (string) $this->examples->folder];
        $given = '';
        foreach ($constants as $name => $value) {
            $given .= "const $name = " . var_export($value, true) . ";\n";
        }
        $application = strtolower(strtok($framework, ' '));
        return $this->examples->code("{$given}require FOLDER . '/../php-tests/Support/$application.php';\n$code");
    }
}
