<?php

declare(strict_types=1);

namespace App\Providers;

use App\Database;
use App\TagLinks;
use Illuminate\Contracts\Container\Container;
use Illuminate\Support\ServiceProvider;

/** TagLinks, the unchanged class of ../tag_links, gets its sets. */
final class AppServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->bind(TagLinks::class, static fn (Container $app): TagLinks => new TagLinks(
            articles: $app->make('keysieve.encyclopedia'),
            offers: $app->make('keysieve.shop'),
            db: $app->make(Database::class),
        ));
    }
}
