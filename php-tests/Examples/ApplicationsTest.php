<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\FrameworkTestCase;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Whole applications, each with the files of php-tests/applications and of the examples: a page in php-fpm, the framework's own commands
 * and cached configuration, its database layer, its queue and a worker for it.
 */
#[Group('frameworks')]
final class ApplicationsTest extends FrameworkTestCase
{
    private const PAGE = [
        'links' => ['猫' => 2, '犬' => 0],
        'titles' => ['Mädchen'], // as the database has cut it, and not what the store has refused
        'found' => [42 => 'Cat food'],
        'loaded' => [[42]], // not 7
        'refused' => [
            'email' => 'Please use a permanent e-mail address.',
            'password' => 'This password is in a list of known passwords. Please choose another one.',
        ],
        'source' => 'KeySieve\Reader\SnapshotFile', // without the extension
        'clicks' => 'KeySieve\SeenSet',
    ];

    private RedisServer $redis;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->environment = ['EXAMPLES_REDIS' => $this->redis->socket];
        parent::setUp();
        $this->redis->command('SET', 'keysieve:encyclopedia:adds', 'is no log');
        $this->examples->publish('products');
    }

    #[DataProvider('symfony')]
    public function testSymfony(string $framework): void
    {
        $application = $this->application($framework);
        $console = "php $application/public/index.php --no-interaction";
        $this->examples->shell("$console cache:clear && $console doctrine:schema:create");
        self::assertStringContainsString('KeySieve\Set', $this->examples->shell("$console debug:container keysieve.products")->output);
        $this->assertWorks($application, $console, "$application/var", 'messenger:consume async --time-limit=120 --limit');
        self::assertStringContainsString("'files:$application/var/sets'", $this->examples->shell("$console debug:config keysieve source")->output);
    }

    #[DataProvider('laravel')]
    public function testLaravel(string $framework): void
    {
        $application = $this->application($framework);
        $artisan = "php $application/artisan --no-interaction";
        touch("$application/database/database.sqlite");
        $this->examples->shell("$artisan cache:clear && $artisan migrate --force && $artisan config:cache && $artisan route:cache");
        self::assertFileExists("$application/bootstrap/cache/config.php");
        $this->assertWorks($application, $artisan, "$application/storage", 'queue:work --sleep=0.1 --max-time=120 --max-jobs');
        $this->examples->shell("$artisan config:clear");
        self::assertSame(self::PAGE, $this->page($application));
    }

    /** @param string $work the command that does as many jobs as it is told */
    private function assertWorks(string $application, string $console, string $storage, string $work): void
    {
        $directory = SharedMemory::directory(); // in place of what the examples have built
        $said = $this->examples->shell("rm -r $directory/encyclopedia $directory/shop && $console keysieve:build --to directory:$directory")->output;
        self::assertStringContainsString("encyclopedia: 7 keys, published\n", $said);
        self::assertStringContainsString("shop: 2 keys, published\n", $said);
        self::assertSame(self::PAGE, $this->page($application));

        self::assertStringContainsString("shop: 2 keys, in $storage/sets\n", $this->examples->shell("$console keysieve:build shop")->output);
        $this->examples->shell("$console $work=1"); // in vain
        $this->redis->command('DEL', 'keysieve:encyclopedia:adds');
        $this->examples->shell("$console $work=1"); // again, after a pause
        self::assertSame(['mädchen'], $this->redis->added('encyclopedia'));
    }

    /** @return array<string, mixed> */
    private function page(string $application): array
    {
        $pool = $this->examples->pool('require ' . var_export("$application/public/index.php", true) . ';');
        $body = $pool->request()->body();
        return json_decode($body, true) ?? self::fail($body);
    }
}
