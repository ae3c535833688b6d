<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use PHPUnit\Framework\TestCase;

/** The files for Symfony and Laravel, loaded by the containers of both as Debian has them. */
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
                public readonly KeySieve\Membership $any,
                public readonly KeySieve\Membership $articles,
                public readonly KeySieve\Membership $offers,
            ) {
            }
        }
        function container(callable $prepare): ContainerBuilder
        {
            $container = new ContainerBuilder();
            $files = new Symfony\Component\Config\FileLocator(FOLDER . '/symfony');
            (new Symfony\Component\DependencyInjection\Loader\YamlFileLoader($container, $files))->load('services.yaml');
            $container->register(Asker::class, Asker::class)->setAutowired(true)->setPublic(true);
            $container->getDefinition(App\TagLinks::class)->setPublic(true);
            $prepare($container);
            $container->compile(true);
            return $container;
        }

        PHP;

    private Examples $examples;

    protected function setUp(): void
    {
        $this->examples = new Examples();
        $this->examples->setUp('encyclopedia', 'shop');
    }

    public function testSymfonyWiresSetsByTheNamesOfParameters(): void
    {
        self::assertSame('{"encyclopedia":1,"shop":1,"same":true,"links":[["猫",2],[null,0]]}', $this->examples->code(self::SYMFONY . <<<'PHP'
            $container = container(static fn () => null);
            $asker = $container->get(Asker::class);
            $asker->articles->mayContain('猫');
            $asker->offers->mayContain('猫');
            $calls = array_map(static fn (array $counts): int => $counts['calls'], KeySieve\stats());
            $links = $container->get(App\TagLinks::class)->of(['猫', 'nothing']);
            echo json_encode([...$calls, 'same' => $asker->any === $asker->articles, 'links' => array_map(
                static fn (array $link): array => [$link['article'], $link['offers']],
                $links,
            )], JSON_UNESCAPED_UNICODE);
            PHP));
    }

    public function testSymfonyTestsCanPassAFake(): void
    {
        self::assertSame('[["犬",null,0],["猫",null,2]]', $this->examples->code(self::SYMFONY . <<<'PHP'
            $container = container(static function (ContainerBuilder $container): void {
                $fake = new Definition(App\ListedKeys::class, [['犬']]);
                $container->setDefinition('keysieve.encyclopedia', $fake);
            });
            echo json_encode(array_map(array_values(...), $container->get(App\TagLinks::class)->of(['犬', '猫'])), JSON_UNESCAPED_UNICODE);
            PHP));
    }

    public function testLaravelBindsSetsOfItsConfiguration(): void
    {
        self::assertSame('[true,true,[["猫","猫",2],["nothing",null,0]],[["犬",null,0]]]', $this->examples->code(self::CLASSES . <<<'PHP'

            foreach (['Support', 'Container', 'Config'] as $component) {
                require "Illuminate/$component/autoload.php";
            }
            require FOLDER . '/laravel/KeySieveServiceProvider.php';
            $app = new Illuminate\Container\Container();
            $app->instance('config', new Illuminate\Config\Repository(['keysieve' => require FOLDER . '/laravel/keysieve.php']));
            (new App\Providers\KeySieveServiceProvider($app))->register();

            $links = $app->make(App\TagLinks::class)->of(['猫', 'nothing']);
            $app->instance('keysieve.encyclopedia', new App\ListedKeys(['犬'])); // as a test of the application does
            echo json_encode([
                $app->make('keysieve.shop') === $app->make('keysieve.shop'),
                $app->make(KeySieve\Membership::class) instanceof App\ListedKeys,
                array_map(array_values(...), $links),
                array_map(array_values(...), $app->make(App\TagLinks::class)->of(['犬'])),
            ], JSON_UNESCAPED_UNICODE);
            PHP));
    }
}
