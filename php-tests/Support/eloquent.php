<?php

// An application in Laravel with Eloquent and queues. EloquentTest includes it, and gives FRAMEWORK, AUTOLOADER, TEMPORARY,
// SETTINGS (of adds) and MARIADB (a socket; null: SQLite). Where a test has included it before, it finds the tables.

declare(strict_types=1);

use Illuminate\Bus\BusServiceProvider;
use Illuminate\Database\DatabaseServiceProvider;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\Eloquent\Relations\BelongsToMany;
use Illuminate\Database\Eloquent\Relations\Pivot;
use Illuminate\Database\Eloquent\SoftDeletes;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap;
use Illuminate\Queue\QueueServiceProvider;
use Illuminate\Redis\RedisServiceProvider;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Redis;
use Illuminate\Support\Facades\Schema;
use KeySieve\Adds\InSets;
use KeySieve\Laravel\AddsKeys;
use KeySieve\Laravel\KeysieveServiceProvider;

require AUTOLOADER;

class Tag extends Model implements InSets
{
    use AddsKeys;

    protected $guarded = [];

    public function keysInSets(): array
    {
        return ['tags' => $this->published ? mb_strtolower($this->name) : null];
    }
}

class SoftTag extends Tag
{
    use SoftDeletes;

    protected $table = 'tags';
}

class Product extends Model implements InSets
{
    use AddsKeys;

    protected $guarded = [];

    public function keysInSets(): array
    {
        return ['products' => $this->id];
    }

    public function tags(): BelongsToMany
    {
        return $this->belongsToMany(Tag::class)->using(ProductTag::class);
    }
}

class ProductTag extends Pivot implements InSets
{
    use AddsKeys;

    public function keysInSets(): array
    {
        return ['roles' => $this->role];
    }
}

class TenantTag extends Model implements InSets
{
    use AddsKeys;

    public $incrementing = false;
    public $timestamps = false;
    protected $guarded = [];

    public function keysInSets(): array
    {
        return ['tags' => $this->name];
    }

    protected function setKeysForSaveQuery($query)
    {
        return parent::setKeysForSaveQuery($query)->where('tenant', $this->original['tenant'] ?? $this->tenant);
    }
}

if (!is_dir(TEMPORARY . '/config')) { // otherwise another process may be reading it
    mkdir(TEMPORARY . '/config');
    mkdir(TEMPORARY . '/bootstrap/cache', recursive: true);
    touch(TEMPORARY . '/app.sqlite');
    $sqlite = ['driver' => 'sqlite', 'database' => TEMPORARY . '/app.sqlite', 'prefix' => ''];
    $mariaDb = ['driver' => 'mariadb', 'unix_socket' => MARIADB, 'database' => 'app', 'username' => 'root', 'password' => '', 'charset' => 'utf8mb4'];
    $queue = ['driver' => 'database', 'table' => 'jobs', 'queue' => 'default', 'retry_after' => 90];
    $store = ['host' => getenv('EXAMPLES_REDIS'), 'port' => 0, 'database' => 0, 'timeout' => 60, 'read_timeout' => 300];
    foreach ([
        'app' => ['providers' => [
            BusServiceProvider::class, DatabaseServiceProvider::class, QueueServiceProvider::class, RedisServiceProvider::class,
            Illuminate\Cache\CacheServiceProvider::class, Illuminate\Encryption\EncryptionServiceProvider::class, KeysieveServiceProvider::class,
        ], 'key' => str_repeat('k', 32), 'cipher' => 'AES-256-CBC'],
        'cache' => ['default' => 'array', 'stores' => ['array' => ['driver' => 'array']]],
        'database' => [
            'default' => 'main',
            'connections' => ['main' => MARIADB === null ? $sqlite : $mariaDb],
            'redis' => ['client' => 'phpredis', 'options' => ['prefix' => 'laravel_database_'], 'default' => $store],
        ],
        'queue' => ['default' => 'sync', 'connections' => ['sync' => ['driver' => 'sync'], 'database' => $queue], 'failed' => ['driver' => 'null']],
        'keysieve' => ['adds' => SETTINGS],
    ] as $name => $values) {
        file_put_contents(TEMPORARY . "/config/$name.php", '<?php return ' . var_export($values, true) . ';');
    }
}

$app = new Application(TEMPORARY);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$app->bootstrapWith([
    Bootstrap\LoadConfiguration::class,
    Bootstrap\RegisterFacades::class,
    Bootstrap\RegisterProviders::class,
    Bootstrap\BootProviders::class,
]);
$app->instance(Psr\Log\LoggerInterface::class, new Psr\Log\NullLogger());
class_exists('DB') || class_alias(DB::class, 'DB');

if (!Schema::hasTable('jobs')) {
    Schema::create('tags', static function (Blueprint $table): void {
        $table->id();
        $table->string('name')->unique();
        $table->boolean('published')->default(true);
        $table->integer('views')->default(0);
        $table->timestamps();
        $table->softDeletes();
    });
    Schema::create('products', static function (Blueprint $table): void {
        $table->id();
        $table->string('name');
        $table->timestamps();
    });
    Schema::create('product_tag', static function (Blueprint $table): void {
        $table->integer('product_id');
        $table->integer('tag_id');
        $table->string('role');
    });
    Schema::create('tenant_tags', static function (Blueprint $table): void {
        $table->integer('tenant');
        $table->integer('id');
        $table->string('name');
        $table->primary(['tenant', 'id']);
    });
    Schema::create('jobs', static function (Blueprint $table): void {
        $table->id();
        $table->string('queue');
        $table->longText('payload');
        $table->integer('attempts');
        $table->integer('reserved_at')->nullable();
        $table->integer('available_at');
        $table->integer('created_at');
    });
}
/** Says what a write throws. */
$try = static function (Closure $write): void {
    try {
        $write();
    } catch (Throwable $error) {
        echo $error::class, ': ', $error->getMessage(), "\n";
    }
};
$rows = static fn (): string => DB::table('tags')->orderBy('id')->pluck('name')->implode(' ');
/** How processes take turns. */
$tell = static fn (string $event): int => Redis::rpush("event $event", '');
$await = static fn (string $event): array => Redis::blpop("event $event", 200) ?: exit("not heard: $event");
