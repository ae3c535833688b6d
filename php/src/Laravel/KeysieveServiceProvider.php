<?php

declare(strict_types=1);

namespace KeySieve\Laravel;

use Illuminate\Contracts\Bus\Dispatcher as Jobs;
use Illuminate\Contracts\Config\Repository;
use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Contracts\Validation\Factory;
use Illuminate\Queue\Events\JobProcessing;
use Illuminate\Redis\RedisManager;
use Illuminate\Support\ServiceProvider;
use KeySieve\Adds\Adds;
use KeySieve\Adds\QueuedAdds;
use KeySieve\Adds\QueuedKeys;
use KeySieve\Adds\RedisAdds;
use KeySieve\Keys\BuiltIn;
use KeySieve\Keys\DomainKey;
use KeySieve\Keys\KeyedSet;
use KeySieve\Keys\PasswordKey;
use KeySieve\Membership;
use KeySieve\Reader\Settings;
use KeySieve\SeenKeys;
use KeySieve\SeenSet;
use KeySieve\Set;
use KeySieve\Validation\BreachedPasswords;
use KeySieve\Validation\DisposableDomains;
use Laravel\Octane\Events\RequestReceived;
use Laravel\Octane\Events\TaskReceived;
use Laravel\Octane\Events\TickReceived;
use Predis\ClientInterface;

use function KeySieve\begin_request;

/**
 * Binds each set of config/keysieve.php as "keysieve.NAME", each seen set as "keysieve.seen.NAME", and adds the rules not_disposable and not_breached.
 *
 * A bare Membership is not bound: a class without a chosen set would silently get that one, and "absent" for keys of another. Choose
 * the set of a class with
 *
 *     $this->app->when(Shelf::class)->needs(Membership::class)->give('keysieve.shop');
 *
 * Singletons are right under Octane as well: a set keeps nothing of a request, and follows new publications on its own.
 */
final class KeysieveServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        // mergeConfigFrom() does nothing if the configuration is cached, perhaps from before this package was installed.
        $settings = $this->app->make(Repository::class);
        /**
         * @var array{source: ?string, sets: array<int|string, ?string>, seen_sets: array<int|string>, disposable_domains: int|string|null,
         *     breached_passwords: int|string|null, adds: ?array{redis: string, prefix?: string, queue?: ?string}} $config
         */
        $config = (array) $settings->get('keysieve') + (array) require __DIR__ . '/keysieve.php';
        $settings->set('keysieve', $config);
        if ($config['sets'] !== [] && array_is_list($config['sets'])) {
            throw new \InvalidArgumentException('config/keysieve.php: "sets" must be name => key profile, or name => null');
        }
        if ($config['source'] !== null) {
            Settings::use($config['source']);
        }
        foreach ($config['sets'] as $name => $keyProfile) {
            $this->app->singleton("keysieve.$name", static fn (): Membership
                => BuiltIn::isFunction($keyProfile) ? new KeyedSet((string) $name, $keyProfile) : new Set((string) $name, $keyProfile));
        }
        foreach ($config['seen_sets'] as $name) {
            $this->app->singleton("keysieve.seen.$name", static fn (): SeenKeys => new SeenSet((string) $name));
        }
        $this->bindList(DisposableDomains::class, $config['disposable_domains'], DomainKey::profile());
        $this->bindList(BreachedPasswords::class, $config['breached_passwords'], PasswordKey::profile());
        if ($config['adds'] !== null) {
            $this->bindAdds(...$config['adds']);
        }
    }

    public function boot(): void
    {
        $this->publishes([__DIR__ . '/keysieve.php' => $this->app->configPath('keysieve.php')], 'keysieve-config');
        if ($this->app->runningInConsole()) {
            $this->commands([BuildSets::class]);
        }
        $events = $this->app->make(Dispatcher::class);
        foreach ([RequestReceived::class, TaskReceived::class, TickReceived::class, JobProcessing::class] as $begin) {
            $events->listen($begin, static fn () => begin_request());
        }
        $this->callAfterResolving('validator', $this->addRules(...));
    }

    /**
     * With a set of its own, whatever key profile the application asks the set with.
     *
     * @param class-string<DisposableDomains|BreachedPasswords> $list
     */
    private function bindList(string $list, int|string|null $set, string $keyProfile): void
    {
        if ($set !== null) {
            $this->app->singleton($list, static fn (): object => new $list(new Set((string) $set, $keyProfile, false)));
        }
    }

    private function bindAdds(string $redis, string $prefix = 'keysieve', ?string $queue = null): void
    {
        $connect = function () use ($redis): \Redis|\RedisCluster|ClientInterface {
            /** @var \Redis|\RedisCluster|ClientInterface $client */
            $client = $this->app->make(RedisManager::class)->resolve($redis)->client();
            return $client;
        };
        $this->app->singleton(RedisAdds::class, static fn (): RedisAdds => new RedisAdds($connect, $prefix));
        $enqueue = function (QueuedKeys $keys) use ($queue): void {
            $this->app->make(Jobs::class)->dispatch((new AddQueuedKeys($keys))->onConnection($queue)->beforeCommit());
        };
        $this->app->singleton(Adds::class, fn (): Adds => $queue === null
            ? $this->app->make(RedisAdds::class) : new QueuedAdds($this->app->make(RedisAdds::class), $enqueue));
    }

    private function addRules(Factory $rules): void
    {
        foreach (['not_disposable' => DisposableDomains::class, 'not_breached' => BreachedPasswords::class] as $rule => $list) {
            $passes = fn (string $attribute, mixed $value): bool
                => !(is_scalar($value) || $value instanceof \Stringable) || !$this->app->make($list)->has((string) $value);
            $rules->extend($rule, $passes, $list::REFUSAL);
        }
    }
}
