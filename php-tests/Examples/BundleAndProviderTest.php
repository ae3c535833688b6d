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
final class BundleAndProviderTest extends FrameworkTestCase
{
    /** Any set that took the place of the one that was meant would say "absent" of its keys. */
    #[DataProvider('symfony')]
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

    #[DataProvider('symfony')]
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

    /** @return iterable<string, array{string, string, string}> a framework, a file of constraints, and what is in it */
    public static function constraintFiles(): iterable
    {
        foreach (Framework::symfony() as $framework) {
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

    #[DataProvider('constraintFiles')]
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
        foreach (Framework::symfony() as $framework) {
            $alike = 'two sets are for the argument "user_names"';
            yield "$framework, two names alike" => [$framework, "['sets' => ['user-names' => null, 'user_names' => null]]", $alike];
            $named = "['sets' => ['user_names' => null, 'users' => ['argument' => 'userNames']]]";
            yield "$framework, a name and an argument alike" => [$framework, $named, 'two sets are for the argument "userNames"'];
            $other = "['sets' => ['shop' => null, 'other' => ['argument' => 'shop']]]";
            yield "$framework, the name of another" => [$framework, $other, 'two sets are for the argument "shop"'];
            yield "$framework, no such setting" => [$framework, "['set' => ['shop' => null]]", 'Unrecognized option "set" under "keysieve"'];
        }
    }

    #[DataProvider('wrongSettings')]
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

    #[DataProvider('symfony')]
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

    #[DataProvider('symfony')]
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

    #[DataProvider('laravel')]
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

    #[DataProvider('laravel')]
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

    #[DataProvider('laravel')]
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

    /** As when the package comes to an application that has cached its configuration: nothing could clear that if it did not boot. */
    #[DataProvider('laravel')]
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

    #[DataProvider('laravel')]
    public function testLaravelBootsWithSettingsThatLackWhatIsNewer(string $framework): void
    {
        $code = <<<'PHP'
            App::cacheSettings(['keysieve' => ['sets' => ['shop' => null]]]);
            $app = App::boot();
            echo json_encode([$app->bound('keysieve.shop'), $app->bound(KeySieve\Validation\BreachedPasswords::class), $app['config']['keysieve']]);
            PHP;
        $settings = '{"sets":{"shop":null},"source":null,"seen_sets":[],"disposable_domains":null,"breached_passwords":null,"adds":null}';
        self::assertSame("[true,false,$settings]", $this->code($framework, $code));
    }

    #[DataProvider('laravel')]
    public function testLaravelPublishesTheSettings(string $framework): void
    {
        $code = <<<'PHP'
            unlink(TEMPORARY . '/config/keysieve.php');
            App::artisan(Illuminate\Foundation\Console\VendorPublishCommand::class, ['--tag' => 'keysieve-config']);
            echo file_get_contents(TEMPORARY . '/config/keysieve.php');
            PHP;
        self::assertStringEqualsFile(Examples::path('../php/src/Laravel/keysieve.php'), $this->code($framework, $code));
    }
}
