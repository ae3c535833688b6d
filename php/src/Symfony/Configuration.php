<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\ConfigurationInterface;

/**
 *     keysieve:
 *         source: 'files:%kernel.project_dir%/var/sets'    # for Reader\Settings::use(), where the extension is not loaded
 *         sets:
 *             shop: ~
 *             encyclopedia: { key_profile: App\TagKey, argument: articles }    # a KeyFunction, or the name of a profile
 *         seen_sets: [clicks]
 *         disposable_domains: disposable    # the set that the constraint NotDisposable asks
 *         breached_passwords: breached      # the set that the constraint NotBreached asks
 *         adds:
 *             redis: '%env(REDIS_URL)%'    # as symfony/cache reads it; with time limits of 2 s if it names none
 *             prefix: keysieve             # ?prefix= of the store's URL
 *             queue: false                 # true: what the store does not take goes to Messenger as KeySieve\Adds\QueuedKeys, see QueuedAdds
 */
final class Configuration implements ConfigurationInterface
{
    public function getConfigTreeBuilder(): TreeBuilder
    {
        $tree = new TreeBuilder('keysieve');
        $tree->getRootNode()->children()
            ->scalarNode('source')->defaultNull()->info('where the package finds sets without the extension, as KEYSIEVE_SOURCE')->end()
            ->arrayNode('sets')->useAttributeAsKey('name', false)->normalizeKeys(false)
                ->arrayPrototype()->children()
                    ->scalarNode('key_profile')->defaultNull()->info('the rules by which the keys must have been normalised, or the KeyFunction that makes keys of raw values')->end()
                    ->scalarNode('argument')->defaultNull()->info('the name of arguments that get this set, if not its own')->end()
                ->end()->end()
            ->end()
            ->arrayNode('seen_sets')->scalarPrototype()->end()->end()
            ->scalarNode('disposable_domains')->defaultNull()->end()
            ->scalarNode('breached_passwords')->defaultNull()->end()
            ->arrayNode('adds')->children()
                ->scalarNode('redis')->isRequired()->cannotBeEmpty()->end()
                ->scalarNode('prefix')->defaultValue('keysieve')->cannotBeEmpty()->end()
                ->booleanNode('queue')->defaultFalse()->end()
            ->end()->end()
        ->end();
        return $tree;
    }
}
