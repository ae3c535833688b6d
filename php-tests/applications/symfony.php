<?php

// The application in Symfony with a container that each test may change. FrameworkTestCase includes it, and gives APPLICATION, the folder
// of the application, FOLDER, that of the examples, and TEMPORARY.

declare(strict_types=1);

use App\Kernel;
use App\TagLinks;
use Psr\Container\ContainerInterface;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;

// Symfony hides what it deprecates.
set_error_handler(static fn (int $level, string $message) => print("deprecated: $message\n"), E_DEPRECATED | E_USER_DEPRECATED);
require APPLICATION . '/vendor/autoload.php';

final class App extends Kernel implements CompilerPassInterface
{
    private const ASKED = [TagLinks::class, 'validator', 'keysieve.encyclopedia'];

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

    public function getProjectDir(): string
    {
        return APPLICATION;
    }

    public function getCacheDir(): string
    {
        return TEMPORARY . '/cache';
    }

    public function process(ContainerBuilder $container): void
    {
        foreach (self::ASKED as $service) {
            $container->findDefinition($service)->setPublic(true);
        }
        $this->prepare?->__invoke($container);
    }
}
