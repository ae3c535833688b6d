<?php

declare(strict_types=1);

namespace App\Providers;

use App\Database;
use App\TagLinks;
use Illuminate\Contracts\Container\Container;
use Illuminate\Support\ServiceProvider;
use KeySieve\Membership;
use KeySieve\Set;

/**
 * Binds each set of config/keysieve.php as "keysieve.<name>", and TagLinks, the unchanged class of ../tag_links.
 *
 * A bare Membership is not bound: a class without a chosen set would silently get that one, and "absent" for keys of another.
 * Choose the set of a class with:
 *
 *     $this->app->when(Shelf::class)->needs(Membership::class)->give('keysieve.shop');
 *
 * Singletons are right under Octane as well: a set keeps nothing of a request, and follows new publications on its own.
 */
final class KeySieveServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        foreach ($this->app->make('config')->get('keysieve.sets') as $name => $keyProfile) {
            $this->app->singleton("keysieve.$name", static fn (): Membership => new Set($name, $keyProfile));
        }
        $this->app->bind(TagLinks::class, static fn (Container $app): TagLinks => new TagLinks(
            articles: $app->make('keysieve.encyclopedia'),
            offers: $app->make('keysieve.shop'),
            db: $app->make(Database::class),
        ));
    }
}
