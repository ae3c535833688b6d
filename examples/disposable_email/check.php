<?php

// Says which addresses are welcome: php check.php ADDRESS...

declare(strict_types=1);

use App\Database;
use KeySieve\Keys\DomainKey;
use KeySieve\Keys\KeyedSet;
use KeySieve\Validation\DisposableDomains;

require __DIR__ . '/../../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/../Database.php';

$db = new Database();
// The exact list has the last word. While it cannot be asked, every address passes.
$disposable = new DisposableDomains(new KeyedSet('disposable', DomainKey::class), static function (array $domains) use ($db): bool {
    try {
        return $db->rowsAmong('SELECT 1 FROM disposable_domains WHERE domain IN (?)', $domains) !== [];
    } catch (PDOException $exception) {
        error_log("disposable domains cannot be asked: {$exception->getMessage()}");
        return false;
    }
});
foreach (array_slice($argv, 1) as $address) {
    echo "$address: ", $disposable->has($address) ? 'please give a lasting address' : 'welcome', "\n";
}
echo "{$db->queries} queries\n";
