<?php

// Lists the keys of a set for a batch, each ended by a NUL: php keys.php SET
// With --profile: prints the name of the rules by which they are normalised. Lookups use the same classes.

declare(strict_types=1);

use App\Database;
use App\TagKey;
use App\UserNameKey;
use KeySieve\Keys\DomainKey;

require __DIR__ . '/../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/Database.php';
require __DIR__ . '/tag_links/TagKey.php';
require __DIR__ . '/usernames/UserNameKey.php';

const SETS = [
    'encyclopedia' => ['SELECT title FROM articles', TagKey::class],
    'shop' => ['SELECT DISTINCT tag FROM offers', TagKey::class],
    'products' => ['SELECT id FROM products', null],
    'users' => ['SELECT name FROM users', UserNameKey::class],
    'disposable' => ['SELECT domain FROM disposable_domains', DomainKey::class],
];

ini_set('display_errors', 'stderr'); // a message is not a key
$set = end($argv);
if (!isset(SETS[$set])) {
    fwrite(STDERR, "keys.php: no set \"$set\"\n");
    exit(64);
}
[$query, $rules] = SETS[$set];
if ($argv[1] === '--profile') {
    exit($rules === null ? '' : $rules::profile());
}
[$count, $first] = [0, []]; // of what is left out
foreach ((new Database())->connection()->query($query, PDO::FETCH_COLUMN, 0) ?: [] as $name) { // row by row
    $key = $rules === null ? $name : $rules::of($name);
    if ($key !== null) {
        echo "$key\0";
    } elseif (++$count <= 10) {
        $first[] = json_encode($name, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE);
    }
}
if ($count > 0) { // a message alone: one bad row must not hold up all the others
    fwrite(STDERR, "keys.php: left out $count rows of $set, which no lookup can ask for: " . implode(', ', $first) . "\n");
}
