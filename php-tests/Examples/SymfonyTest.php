<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\FrameworkTestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** The bundle, its settings and its validators, in each version of Symfony that Framework has. */
#[Group('frameworks')]
final class SymfonyTest extends FrameworkTestCase
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
}
