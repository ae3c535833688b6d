<?php

// Says which addresses are welcome: php check.php ADDRESS...

declare(strict_types=1);

use App\Database;
use App\DisposableDomains;
use App\DomainKey;
use KeySieve\Set;

require __DIR__ . '/../Database.php';
require __DIR__ . '/DisposableDomains.php';
require __DIR__ . '/DomainKey.php';

$db = new Database();
$disposable = new DisposableDomains(new Set('disposable', DomainKey::PROFILE), $db);
foreach (array_slice($argv, 1) as $address) {
    echo "$address: ", $disposable->has($address) ? 'please give a lasting address' : 'welcome', "\n";
}
echo "{$db->queries} queries\n";
