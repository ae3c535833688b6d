<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\TestCase;

/**
 * The files for Symfony and Laravel, loaded by the containers of both as Debian has them.
 *
 * @group frameworks
 */
final class FrameworksTest extends TestCase
{
    private const CLASSES = <<<'PHP'
        error_reporting(E_ALL & ~E_DEPRECATED); // of libraries that are older than PHP 8.2
        require FOLDER . '/Database.php';
        require FOLDER . '/tag_links/TagKey.php';
        require FOLDER . '/tag_links/TagLinks.php';
        require FOLDER . '/testing/ListedKeys.php';
        PHP;

    private const SYMFONY = self::CLASSES . <<<'PHP'

        use Symfony\Component\DependencyInjection\{ContainerBuilder, Definition};
        require 'Symfony/Component/DependencyInjection/autoload.php';

        final class Asker
        {
            public function __construct(
                public readonly KeySieve\Membership $articles,
                public readonly KeySieve\Membership $offers,
            ) {
            }
        }
        function container(callable $prepare): ContainerBuilder
        {
            $container = new ContainerBuilder();
            $files = new Symfony\Component\Config\FileLocator(FOLDER . '/symfony');
            (new Symfony\Component\DependencyInjection\Loader\YamlFileLoader($container, $files))
                ->load('services.yaml');
            $container->register(Asker::class, Asker::class)->setAutowired(true)->setPublic(true);
            $container->getDefinition(App\TagLinks::class)->setPublic(true);
            $prepare($container);
            $container->compile(true);
            return $container;
        }

        PHP;

    private const LARAVEL = self::CLASSES . <<<'PHP'

        foreach (['Support', 'Container', 'Config'] as $component) {
            require "Illuminate/$component/autoload.php";
        }
        require FOLDER . '/laravel/KeySieveServiceProvider.php';
        $settings = ['keysieve' => require FOLDER . '/laravel/keysieve.php'];
        $app = new Illuminate\Container\Container();
        $app->instance('config', new Illuminate\Config\Repository($settings));
        (new App\Providers\KeySieveServiceProvider($app))->register();

        PHP;

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
        $this->examples->setUp('encyclopedia', 'shop');
    }

    /** @return iterable<string, array{string, string}> code that makes $links, and what the links and their sets are */
    public static function containers(): iterable
    {
        $ofSets = "猫: 猫 2\n犬:  0\nencyclopedia shop\n";
        $withFakeShop = "猫: 猫 0\n犬:  0\nencyclopedia\n";
        yield 'Symfony wires sets by the names of parameters' => [self::SYMFONY . <<<'PHP'
            $container = container(static fn () => null);
            $links = $container->get(App\TagLinks::class);
            $asker = $container->get(Asker::class);
            echo json_encode([$asker->articles->mayContain('犬'), $asker->offers->mayContain('2024')]), "\n";
            PHP, "[false,true]\n$ofSets"];
        yield 'Symfony passes a fake to tests' => [self::SYMFONY . <<<'PHP'
            $container = container(static function (ContainerBuilder $container): void {
                $container->setDefinition('keysieve.shop', new Definition(App\ListedKeys::class, [['犬']]));
            });
            $links = $container->get(App\TagLinks::class);
            PHP, $withFakeShop];
        yield 'Laravel binds sets of its configuration' => [self::LARAVEL . '$links = $app->make(App\TagLinks::class);', $ofSets];
        yield 'Laravel passes a fake to tests' => [self::LARAVEL . <<<'PHP'
            $app->instance('keysieve.shop', new App\ListedKeys(['犬']));
            $links = $app->make(App\TagLinks::class);
            PHP, $withFakeShop];
    }

    /** @dataProvider containers */
    public function testAContainerPassesTheSetsOfAPage(string $code, string $output): void
    {
        self::assertSame($output, $this->examples->code($code . self::PRINT_LINKS));
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
                container(static function (ContainerBuilder $container): void {
                    $container->register(Misnamed::class, Misnamed::class)->setAutowired(true)->setPublic(true);
                });
            } catch (Symfony\Component\DependencyInjection\Exception\RuntimeException $error) {
                echo $error->getMessage();
            }
            PHP;
        self::assertMatchesRegularExpression(
            '/Cannot autowire service "Misnamed": argument "\$ofers" .*"KeySieve\\\\Membership"/',
            $this->examples->code(self::SYMFONY . $code),
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
            $this->examples->code(self::LARAVEL . $code),
        );
    }
}
