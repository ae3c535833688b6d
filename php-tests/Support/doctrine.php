<?php

// An application in Symfony with Doctrine. DoctrineTest includes it once, and gives AUTOLOADER, TEMPORARY, SETTINGS (of the bundle), STORE
// (a DSN), QUEUE (whether there is a queue for keys) and MARIADB (a socket; null: SQLite).

declare(strict_types=1);

use App\Entity\Change;
use Doctrine\Bundle\DoctrineBundle\DoctrineBundle;
use Doctrine\ORM\Event\PostUpdateEventArgs;
use Doctrine\ORM\Event\PreUpdateEventArgs;
use Doctrine\ORM\Tools\SchemaTool;
use KeySieve\Adds\QueuedKeys;
use KeySieve\Symfony\KeysieveBundle;
use Psr\Log\NullLogger;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel;

require AUTOLOADER;
foreach (['Change', 'Kind', 'Page', 'Size', 'Tag'] as $entity) {
    require __DIR__ . "/entities/$entity.php";
}
error_reporting(E_ALL & ~E_USER_DEPRECATED); // Doctrine says what its next versions change

/** Changes an entity after Doctrine has computed what is new. */
final class Exclaimer
{
    public function preUpdate(PreUpdateEventArgs $event): void
    {
        if ($event->hasChangedField('name') && str_ends_with($event->getNewValue('name'), '?')) {
            $event->setNewValue('name', strtr($event->getNewValue('name'), '?', '!'));
        }
    }
}

/** Flushes in the middle of a flush, before AddKeysOfEntities hears of the update or after. */
final class Auditor
{
    public static ?int $priority = null;

    public function __construct(private readonly int $priorityOfThis)
    {
    }

    public function postUpdate(PostUpdateEventArgs $event): void
    {
        if (self::$priority === $this->priorityOfThis) {
            $event->getObjectManager()->persist(new Change($event->getObject()::class));
            $event->getObjectManager()->flush();
        }
    }
}

final class App extends Kernel implements CompilerPassInterface
{
    public function __construct()
    {
        parent::__construct('test', false);
    }

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new DoctrineBundle(), new KeysieveBundle()];
    }

    public function getProjectDir(): string
    {
        return TEMPORARY;
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(static function (ContainerBuilder $container): void {
            $queues = ['transports' => ['adds' => 'in-memory://'], 'routing' => [QueuedKeys::class => 'adds']];
            $container->loadFromExtension('framework', [
                'http_method_override' => false,
                'handle_all_throwables' => true,
                'php_errors' => ['log' => true],
                'messenger' => QUEUE ? $queues : ['enabled' => true],
            ]);
            $mapping = ['type' => 'attribute', 'dir' => __DIR__ . '/entities', 'prefix' => 'App\Entity', 'is_bundle' => false];
            $container->loadFromExtension('doctrine', [
                'dbal' => MARIADB === null
                    ? ['driver' => 'pdo_sqlite', 'path' => TEMPORARY . '/app.sqlite']
                    : ['driver' => 'pdo_mysql', 'unix_socket' => MARIADB, 'dbname' => 'app', 'charset' => 'utf8mb4'],
                'orm' => ['mappings' => ['App' => $mapping]] + ORM_SETTINGS,
            ]);
            $container->loadFromExtension('keysieve', ['adds' => ['redis' => '%env(STORE)%'] + SETTINGS]);
            $container->register('logger', NullLogger::class);
            $container->register(Exclaimer::class, Exclaimer::class)->addTag('doctrine.event_listener', ['event' => 'preUpdate']);
            foreach ([0, 2048] as $priority) {
                $tag = ['event' => 'postUpdate', 'priority' => $priority];
                $container->register("auditor $priority", Auditor::class)->setArguments([$priority])->addTag('doctrine.event_listener', $tag);
            }
        });
    }

    public function process(ContainerBuilder $container): void
    {
        foreach (['doctrine.orm.entity_manager', 'doctrine', 'messenger.transport.adds', 'messenger.default_bus'] as $service) {
            if ($container->has($service)) {
                $container->findDefinition($service)->setPublic(true);
            }
        }
        $container->getAlias(KeySieve\Adds\Adds::class)->setPublic(true);
    }
}

$_SERVER['STORE'] = STORE;
$app = new App();
$app->boot();
$container = $app->getContainer();
$db = $container->get('doctrine.orm.entity_manager');
(new SchemaTool($db))->createSchema($db->getMetadataFactory()->getAllMetadata());
/** Flushes, and says what that throws. */
$save = static function (object ...$entities) use ($db): void {
    array_map($db->persist(...), $entities);
    try {
        $db->flush();
    } catch (Throwable $error) {
        echo get_debug_type($error), ': ', $error->getMessage(), "\n";
    }
};
/** What others see. */
$rows = static fn (): string => implode(' ', (new PDO(MARIADB === null ? 'sqlite:' . TEMPORARY . '/app.sqlite' : 'mysql:dbname=app;unix_socket=' . MARIADB))
    ->query('SELECT name FROM Tag ORDER BY id')->fetchAll(PDO::FETCH_COLUMN));
