<?php

// Shows which names are free: php available.php NAME...

declare(strict_types=1);

use App\Database;
use App\UserNameKey;
use App\UserNames;
use KeySieve\Keys\KeyedSet;

require __DIR__ . '/../../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/../Database.php';
require __DIR__ . '/NameState.php';
require __DIR__ . '/UserNameKey.php';
require __DIR__ . '/UserNames.php';

$db = new Database();
$names = new UserNames(new KeyedSet('users', UserNameKey::class), $db);
foreach (array_slice($argv, 1) as $name) {
    echo "$name: {$names->state($name)->value}\n";
}
echo "{$db->queries} queries\n";
