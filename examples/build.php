<?php

// Builds sets from the database, as keysieve:build does in Symfony and Laravel: php build.php TO [SET]...
// TO: a folder, directory:FOLDER to publish on this host, or the URL of a store.

declare(strict_types=1);

use App\ColumnSet;
use App\Database;
use App\TagKey;
use App\UserNameKey;
use KeySieve\Build\SourceBuild;
use KeySieve\Keys\DomainKey;
use KeySieve\Keys\IntegerKey;

require __DIR__ . '/../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/ColumnSet.php';
require __DIR__ . '/Database.php';
require __DIR__ . '/tag_links/TagKey.php';
require __DIR__ . '/usernames/UserNameKey.php';

$db = new Database();
$isBuilt = (new SourceBuild())->all([
    new ColumnSet('encyclopedia', $db, 'SELECT title FROM articles', TagKey::class),
    new ColumnSet('shop', $db, 'SELECT DISTINCT tag FROM offers', TagKey::class),
    new ColumnSet('products', $db, 'SELECT id FROM products', IntegerKey::class),
    new ColumnSet('users', $db, 'SELECT name FROM users', UserNameKey::class),
    new ColumnSet('disposable', $db, 'SELECT domain FROM disposable_domains', DomainKey::class),
], array_slice($argv, 2), $argv[1] ?? 'sets', static fn (string $line) => print("$line\n"));
exit($isBuilt ? 0 : 1);
