<?php

// Everything of the package in one page.

declare(strict_types=1);

use App\Actions\InsertArticle;
use App\Models\Article;
use App\TagLinks;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\Facades\Schema;
use Illuminate\Support\Facades\Validator;
use KeySieve\Adds\AddException;
use KeySieve\Adds\RedisAdds;
use KeySieve\Reader\Settings;

Route::get('/', static function (TagLinks $links): array {
    if (!Schema::hasTable('products')) {
        Schema::create('products', static function ($table): void {
            $table->id();
            $table->string('name');
        });
        DB::table('products')->insert(['id' => 42, 'name' => 'Cat food']);
        Schema::create('articles', static function ($table): void {
            $table->id();
            $table->string('title');
        });
        DB::unprepared('CREATE TRIGGER cuts AFTER INSERT ON articles BEGIN UPDATE articles SET title = substr(title, 1, 7) WHERE id = new.id; END');
        app(InsertArticle::class)(new Article(['title' => 'Mädchen im Glück']));
        try {
            (new InsertArticle(app(RedisAdds::class)))(new Article(['title' => 'refused'])); // without the queue
        } catch (AddException) {
        }
    }
    $loaded = [];
    $find = static function (array $ids) use (&$loaded): array {
        $loaded[] = $ids;
        return DB::table('products')->whereIn('id', $ids)->pluck('name', 'id')->all();
    };
    $registration = ['email' => 'me@a.trash.example', 'password' => '123456'];
    $rules = ['email' => 'required|email|not_disposable', 'password' => 'required|not_breached'];
    return [
        'links' => array_column($links->of(['猫', '犬']), 'offers', 'tag'),
        'titles' => Article::pluck('title')->all(),
        'found' => $find(app('keysieve.products')->candidates([42, 7])),
        'loaded' => $loaded,
        'refused' => array_map(current(...), Validator::make($registration, $rules)->errors()->toArray()),
        'source' => get_debug_type(Settings::sourceOf('shop')),
        'clicks' => app('keysieve.seen.clicks')::class,
    ];
});
