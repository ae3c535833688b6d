<?php

// Registers user names: php register.php NAME...
// Every host answers "maybe" for them within milliseconds, before the next build.

declare(strict_types=1);

use App\AddThenCommit;
use App\Database;
use App\UserNameKey;
use App\UserNames;
use KeySieve\Set;

require __DIR__ . '/../Database.php';
require __DIR__ . '/../usernames/NameState.php';
require __DIR__ . '/../usernames/UserNameKey.php';
require __DIR__ . '/../usernames/UserNames.php';
require __DIR__ . '/AddThenCommit.php';

// The transaction is open during the request to Redis, so a Redis that hangs must not hold it for long.
$redis = new Redis();
$redis->connect((string) getenv('EXAMPLES_REDIS'), 0, 2.0, null, 0, 2.0);

$db = new Database();
$names = new UserNames(new Set('users', UserNameKey::PROFILE), $db);
$addThenCommit = new AddThenCommit($db->connection(), $redis, 'keysieve:users:adds');
foreach (array_slice($argv, 1) as $name) {
    echo "$name: {$names->register($name, $addThenCommit)->value}\n";
}
