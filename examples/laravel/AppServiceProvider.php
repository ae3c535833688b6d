<?php

declare(strict_types=1);

namespace App\Providers;

use App\ColumnSet;
use App\Database;
use App\TagKey;
use App\TagLinks;
use Illuminate\Contracts\Container\Container;
use Illuminate\Support\ServiceProvider;

/** TagLinks, the unchanged class of ../tag_links, gets its sets, and keysieve:build the sources of `sources` in config/keysieve.php. */
final class AppServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->bind(TagLinks::class, static fn (Container $app): TagLinks => new TagLinks(
            articles: $app->make('keysieve.encyclopedia'),
            offers: $app->make('keysieve.shop'),
            db: $app->make(Database::class),
        ));
        foreach (['encyclopedia' => 'SELECT title FROM articles', 'shop' => 'SELECT DISTINCT tag FROM offers'] as $name => $query) {
            $this->app->bind("sources.$name", static fn (Container $app): ColumnSet
                => new ColumnSet($name, $app->make(Database::class), $query, TagKey::class));
        }
    }
}
