<?php

// Registers user names: php register.php NAME...
// Every host answers "maybe" for them within milliseconds, before the next build.

declare(strict_types=1);

use App\Database;
use App\UserNameKey;
use App\UserNames;
use KeySieve\Adds\RedisAdds;
use KeySieve\Keys\KeyedSet;

require __DIR__ . '/../../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/../Database.php';
require __DIR__ . '/../usernames/NameState.php';
require __DIR__ . '/../usernames/UserNameKey.php';
require __DIR__ . '/../usernames/UserNames.php';

$adds = new RedisAdds(static function (): Redis {
    $redis = new Redis();
    $redis->connect((string) getenv('EXAMPLES_REDIS'), 0, 2.0, null, 0, 2.0); // the transaction is open meanwhile
    return $redis;
});
$db = new Database();
$names = new UserNames(new KeyedSet('users', UserNameKey::class), $db);
foreach (array_slice($argv, 1) as $name) {
    echo "$name: {$names->register($name, $adds)->value}\n";
}
