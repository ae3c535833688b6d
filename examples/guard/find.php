<?php

// Finds products and shows which store was asked: php find.php ID...    or one per line on standard input
// EXAMPLES_REDIS_SECONDS is the time limit for Redis.

declare(strict_types=1);

use App\Database;
use App\ProductFinder;
use App\RedisCache;
use KeySieve\Set;

require __DIR__ . '/../../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/../Database.php';
require __DIR__ . '/ProductFinder.php';
require __DIR__ . '/RedisCache.php';

$ids = $argc > 1 ? array_slice($argv, 1) : (file('php://stdin', FILE_IGNORE_NEW_LINES) ?: []);
$cache = new RedisCache((string) getenv('EXAMPLES_REDIS'), secondsToWait: (float) (getenv('EXAMPLES_REDIS_SECONDS') ?: 2.0));
$db = new Database();
$finder = new ProductFinder(new Set('products'), $cache, $db);

foreach ($ids as $id) {
    $product = $finder->find($id);
    if ($product !== null) {
        echo "$id: {$product['name']}\n";
    }
}
printf("%d ids, Redis asked %d times, SQL %d times\n", count($ids), $cache->asked, $db->queries);
