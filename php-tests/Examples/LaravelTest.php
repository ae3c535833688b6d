<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\FrameworkTestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** The provider, its settings and its rules, in each version of Laravel that Framework has. */
#[Group('frameworks')]
final class LaravelTest extends FrameworkTestCase
{
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
