<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use KeySieve\Validation\PasswordKey;

/**
 * The bundle, the provider, and the examples' files for both, in Symfony and Laravel as Debian has them.
 *
 * @group frameworks
 */
final class FrameworksTest extends TestCase
{
    private const SYMFONY = "require FOLDER . '/../php-tests/Support/symfony.php';\n";
    private const LARAVEL = "require FOLDER . '/../php-tests/Support/laravel.php';\n";

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

    /** @return iterable<string, array{string, string}> code that makes $links, and what the links and their sets are */
    public static function containers(): iterable
    {
        $ofSets = "猫: 猫 2\n犬:  0\nencyclopedia shop\n";
        $withFakeShop = "猫: 猫 0\n犬:  0\nencyclopedia\n";
        yield 'Symfony wires sets by the names of arguments' => [self::SYMFONY . <<<'PHP'
            $container = App::container();
            $links = $container->get(App\TagLinks::class);
            $asker = $container->get(Asker::class);
            echo json_encode([$asker->articles->mayContain('犬'), $asker->offers->mayContain('2024')]), "\n";
            PHP, "[false,true]\n$ofSets"];
        yield 'Symfony passes a fake to tests' => [self::SYMFONY . <<<'PHP'
            $container = App::container(static function ($container): void {
                $container->register('keysieve.shop', KeySieve\Testing\ListedKeys::class)->setArguments([['犬']]);
            });
            $links = $container->get(App\TagLinks::class);
            PHP, $withFakeShop];
        yield 'Laravel binds sets of its configuration' => [self::LARAVEL . '$links = $app->make(App\TagLinks::class);', $ofSets];
        yield 'Laravel passes a fake to tests' => [self::LARAVEL . <<<'PHP'
            $app->instance('keysieve.shop', new KeySieve\Testing\ListedKeys(['犬']));
            $links = $app->make(App\TagLinks::class);
            PHP, $withFakeShop];
    }

    /** @dataProvider containers */
    public function testAContainerPassesTheSetsOfAPage(string $code, string $output): void
    {
        self::assertSame($output, $this->code($code . self::PRINT_LINKS));
    }

    /** Any set that took the place of the one that was meant would say "absent" of its keys. */
    public function testSymfonyRefusesAParameterThatNamesNoSet(): void
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
            $this->code(self::SYMFONY . $code),
        );
    }

    public function testLaravelRefusesAClassThatWasNotToldItsSet(): void
    {
        $code = <<<'PHP'
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
            $this->code(self::LARAVEL . $code),
        );
    }

    public function testTheValidatorsOfSymfonyRefuseWhatIsListed(): void
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
                    echo $violation->getPropertyPath(), ': ', $violation->getMessage(), ' ';
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
            "email: Please use a permanent e-mail address. password: Known. \n\n\n",
            $this->code(self::SYMFONY . $code),
        );
    }

    public function testTheRulesOfLaravelRefuseWhatIsListed(): void
    {
        $code = <<<'PHP'
            foreach ([['me@a.trash.example', 123456], ['me@example.org', 'correct horse battery staple']] as [$email, $password]) {
                $rules = ['email' => 'required|not_disposable', 'password' => 'required|not_breached'];
                echo json_encode($app->make('validator')->make(['email' => $email, 'password' => $password], $rules)->errors()), "\n";
            }
            PHP;
        self::assertSame(
            '{"email":["Please use a permanent e-mail address."],'
                . '"password":["This password is in a list of known passwords. Please choose another one."]}' . "\n[]\n",
            $this->code(self::LARAVEL . $code),
        );
    }

    public function testAConstraintOfAYamlFileHasItsOptions(): void
    {
        $code = <<<'PHP'
            [$plain, $named] = [new KeySieve\Symfony\NotBreached(null), new KeySieve\Symfony\NotBreached(['message' => 'Known.'])];
            echo $plain->message, ' ', $named->message;
            PHP;
        self::assertSame('This password is in a list of known passwords. Please choose another one. Known.', $this->code(self::SYMFONY . $code));
    }

    /** @return iterable<string, array{string, string}> settings of Symfony, and what is wrong */
    public static function wrongSettings(): iterable
    {
        yield 'two names alike' => ["['sets' => ['user-names' => null, 'user_names' => null]]", 'two sets are for the argument "user_names"'];
        yield 'the name of another' => ["['sets' => ['shop' => null, 'other' => ['argument' => 'shop']]]", 'two sets are for the argument "shop"'];
        yield 'no such setting' => ["['set' => ['shop' => null]]", 'Unrecognized option "set" under "keysieve"'];
    }

    /** @dataProvider wrongSettings */
    public function testSymfonyRefusesSettingsThatAreAmbiguous(string $settings, string $reason): void
    {
        $code = <<<PHP
            try {
                (new KeySieve\Symfony\KeysieveExtension())->load([$settings], new Symfony\Component\DependencyInjection\ContainerBuilder());
            } catch (Symfony\Component\Config\Definition\Exception\InvalidConfigurationException \$error) {
                echo \$error->getMessage();
            }
            PHP;
        self::assertStringContainsString($reason, $this->code(self::SYMFONY . $code));
    }

    public function testAValidatorAsksItsSetByItsOwnKeyProfile(): void
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
        self::assertSame('true', $this->code(self::SYMFONY . $code));
    }

    public function testLaravelRefusesAListOfSets(): void
    {
        $code = <<<'PHP'
            $app->make('config')->set('keysieve.sets', ['shop']);
            try {
                (new KeySieve\Laravel\KeysieveServiceProvider($app))->register();
            } catch (InvalidArgumentException $error) {
                echo $error->getMessage();
            }
            PHP;
        self::assertStringContainsString('"sets" must be name => key profile', $this->code(self::LARAVEL . $code));
    }

    /** @return iterable<string, array{string}> code that makes $asks, which asks for 犬 in the next request or job of this process */
    public static function servers(): iterable
    {
        yield 'Symfony, requests' => [self::SYMFONY . <<<'PHP'
            $app = new App();
            $asks = static fn (): string => $app->handle(Symfony\Component\HttpFoundation\Request::create('/', parameters: ['tag' => '犬']))->getContent();
            PHP];
        yield 'Symfony, messages' => [self::SYMFONY . <<<'PHP'
            $container = App::container();
            $asks = static function () use ($container): string {
                $message = new Symfony\Component\Messenger\Envelope(new stdClass());
                $container->get('event_dispatcher')
                    ->dispatch(new Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent($message, 'async'));
                return json_encode($container->get(Asker::class)->articles->mayContain('犬'));
            };
            PHP];
        $octane = ['Laravel\Octane\Events\RequestReceived', 'Laravel\Octane\Events\TaskReceived', 'Laravel\Octane\Events\TickReceived'];
        foreach ([...$octane, 'Illuminate\Queue\Events\JobProcessing'] as $event) {
            yield "Laravel, $event" => [self::LARAVEL . <<<PHP
                \$asks = static function () use (\$app): string {
                    \$sandbox = clone \$app; // as Octane does
                    \$sandbox->make('events')->dispatch('$event');
                    return json_encode(\$sandbox->make('keysieve.encyclopedia')->mayContain('犬'));
                };
                PHP];
        }
    }

    /** @dataProvider servers */
    public function testAServerNoticesAnotherDirectoryAtItsNextRequest(string $code): void
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
        self::assertSame('false false true', $this->code($code));
    }

    private function code(string $code): string
    {
        return $this->examples->code("const TEMPORARY = '{$this->examples->folder}';\n$code");
    }
}
