<?php

// An application in Symfony: its kernel with its own bundle and that of the package, and the files of examples/symfony.
// FrameworkTestCase includes it, and gives AUTOLOADER, FOLDER (of the examples) and TEMPORARY.

declare(strict_types=1);

use App\TagLinks;
use KeySieve\Membership;
use KeySieve\Symfony\KeysieveBundle;
use Psr\Container\ContainerInterface;
use Psr\Log\NullLogger;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

// Symfony hides what it deprecates.
set_error_handler(static fn (int $level, string $message) => print("deprecated: $message\n"), E_DEPRECATED | E_USER_DEPRECATED);
require AUTOLOADER;
require FOLDER . '/ColumnSet.php';
require FOLDER . '/Database.php';
require FOLDER . '/tag_links/TagKey.php';
require FOLDER . '/tag_links/TagLinks.php';

/** A controller, and what else gets sets. */
final class Asker
{
    public function __construct(
        public readonly Membership $articles,
        public readonly Membership $offers,
    ) {
    }

    public function __invoke(Request $request): Response
    {
        return new Response(json_encode($this->articles->mayContain($request->query->get('tag'))));
    }
}

final class App extends Kernel implements CompilerPassInterface
{
    use MicroKernelTrait;

    /** @param ?Closure(ContainerBuilder): void $prepare */
    public function __construct(private readonly ?Closure $prepare = null)
    {
        parent::__construct('test', false);
    }

    /** @param ?Closure(ContainerBuilder): void $prepare */
    public static function container(?Closure $prepare = null): ContainerInterface
    {
        $app = new self($prepare);
        $app->boot();
        return $app->getContainer();
    }

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new KeysieveBundle()];
    }

    public function getProjectDir(): string
    {
        return TEMPORARY;
    }

    public function process(ContainerBuilder $container): void
    {
        $container->getDefinition(TagLinks::class)->setPublic(true);
        $container->getDefinition('validator')->setPublic(true);
        $this->prepare?->__invoke($container);
    }

    protected function configureContainer(ContainerBuilder $container, LoaderInterface $loader): void
    {
        $container->loadFromExtension('framework', [
            'handle_all_throwables' => true,
            'http_method_override' => false,
            'php_errors' => ['log' => true],
            'validation' => ['email_validation_mode' => 'html5'],
        ]);
        $loader->load(FOLDER . '/symfony/keysieve.yaml');
        $loader->load(FOLDER . '/symfony/services.yaml');
        $container->register(Asker::class, Asker::class)->setAutowired(true)->setPublic(true);
        $container->register('logger', NullLogger::class);
    }

    protected function configureRoutes(RoutingConfigurator $routes): void
    {
        $routes->add('ask', '/')->controller(Asker::class);
    }
}
