<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Adds\Adds;
use KeySieve\Adds\QueuedAdds;
use KeySieve\Adds\RedisAdds;
use KeySieve\Build\SetSource;
use KeySieve\Keys\BuiltIn;
use KeySieve\Keys\DomainKey;
use KeySieve\Keys\KeyedSet;
use KeySieve\Keys\PasswordKey;
use KeySieve\Membership;
use KeySieve\SeenKeys;
use KeySieve\SeenSet;
use KeySieve\Set;
use KeySieve\Validation\BreachedPasswords;
use KeySieve\Validation\DisposableDomains;
use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Config\Definition\Exception\InvalidConfigurationException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\DependencyInjection\Argument\ServiceClosureArgument;
use Symfony\Component\DependencyInjection\Argument\ServiceLocatorArgument;
use Symfony\Component\DependencyInjection\Argument\TaggedIteratorArgument;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Extension\Extension;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent;

/**
 * Makes each configured set a service keysieve.NAME, which arguments "Membership $name" get, and each seen set a service
 * keysieve.seen.NAME for "SeenKeys $name".
 *
 * A bare Membership is no service: an argument with a wrong name would silently get that set, and "absent" for keys of another.
 * Without it, the container does not compile.
 */
final class KeysieveExtension extends Extension
{
    /** In seconds: a transaction is open while the store answers. */
    private const TIME_LIMITS = ['timeout' => 2, 'read_timeout' => 2];

    public function load(array $configs, ContainerBuilder $container): void
    {
        /**
         * @var array{source: ?string, sets: array<int|string, array{key_profile: int|string|null, argument: int|string|null}>, seen_sets: list<int|string>,
         *     disposable_domains: int|string|null, breached_passwords: int|string|null,
         *     adds?: array{redis: string, prefix: string, queue: bool}} $config
         */
        $config = $this->processConfiguration(new Configuration(), $configs);
        $container->setParameter('keysieve.source', $config['source']);
        $arguments = [];
        foreach ($config['sets'] as $name => $set) {
            $isFunction = BuiltIn::isFunction((string) $set['key_profile']);
            $container->register("keysieve.$name", $isFunction ? KeyedSet::class : Set::class)->setArguments([(string) $name, $set['key_profile']]);
            self::giveTo((string) ($set['argument'] ?? $name), Membership::class, "keysieve.$name", $container, $arguments);
        }
        foreach ($config['seen_sets'] as $name) {
            $container->register("keysieve.seen.$name", SeenSet::class)->setArguments([(string) $name]);
            self::giveTo((string) $name, SeenKeys::class, "keysieve.seen.$name", $container, $arguments);
        }
        $this->registerList($container, DisposableDomains::class, NotDisposableValidator::class, $config['disposable_domains'], DomainKey::profile());
        $this->registerList($container, BreachedPasswords::class, NotBreachedValidator::class, $config['breached_passwords'], PasswordKey::profile());
        if (isset($config['adds'])) {
            $this->registerAdds($container, $config['adds']);
        }
        $container->registerForAutoconfiguration(SetSource::class)->addTag('keysieve.source');
        if (class_exists(Command::class)) {
            $sources = new ServiceLocatorArgument(new TaggedIteratorArgument('keysieve.source', needsIndexes: true));
            $container->register(BuildSets::class)->setArguments([$sources, '%kernel.project_dir%/var/sets'])->addTag('console.command');
        }
        $container->register(BeginRequest::class)
            ->addTag('kernel.event_listener', ['event' => 'kernel.request', 'priority' => 4096])
            ->addTag('kernel.event_listener', ['event' => WorkerMessageReceivedEvent::class]);
    }

    /** @param array<int|string, true> $arguments that have a set already */
    private static function giveTo(string $argument, string $type, string $service, ContainerBuilder $container, array &$arguments): void
    {
        $alias = $container->registerAliasForArgument($service, $type, $argument);
        $parsed = (string) array_search($alias, $container->getAliases(), true); // since Symfony 6.4 there may be a second alias
        if (isset($arguments[$parsed])) {
            throw new InvalidConfigurationException("keysieve: two sets are for the argument \"$argument\", one of them \"$service\"");
        }
        $arguments[$parsed] = true;
    }

    /** @param array{redis: string, prefix: string, queue: bool} $config */
    private function registerAdds(ContainerBuilder $container, array $config): void
    {
        $container->register('keysieve.adds.redis', \stdClass::class)->setShared(false) // RedisAdds opens its own, one after the other
            ->setFactory([RedisAdapter::class, 'createConnection'])->setArguments([$config['redis'], self::TIME_LIMITS]);
        $connect = new ServiceClosureArgument(new Reference('keysieve.adds.redis'));
        $container->register(RedisAdds::class)->setArguments([$connect, $config['prefix']]);
        if ($config['queue']) {
            $container->register(AddQueuedKeys::class)->setArguments([new Reference(RedisAdds::class)])->addTag('messenger.message_handler');
            $dispatch = (new Definition(\Closure::class, [[new Reference('messenger.default_bus'), 'dispatch']]))
                ->setFactory([\Closure::class, 'fromCallable']);
            $container->register(QueuedAdds::class)->setArguments([new Reference(RedisAdds::class), $dispatch]);
        }
        $container->setAlias(Adds::class, $config['queue'] ? QueuedAdds::class : RedisAdds::class);
    }

    /** With a set of its own, whatever key profile the application asks the set with. */
    private function registerList(ContainerBuilder $container, string $list, string $validator, int|string|null $set, string $keyProfile): void
    {
        if ($set !== null) {
            $container->register($list)->setArguments([new Definition(Set::class, [(string) $set, $keyProfile, false])]);
            $container->register($validator)->setArguments([new Reference($list)])->addTag('validator.constraint_validator');
        }
    }
}
