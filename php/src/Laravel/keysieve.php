<?php

declare(strict_types=1);

// config/keysieve.php

return [
    // where the package finds sets without the extension, as KEYSIEVE_SOURCE: 'files:' . storage_path('sets')
    'source' => null,
    // each set with the KeyFunction that makes keys of raw values, or the name of a profile that it must have (null: any)
    'sets' => [],
    // names of seen sets
    'seen_sets' => [],
    // classes that implement KeySieve\Build\SetSource, for `php artisan keysieve:build`
    'sources' => [],
    // the set that the rule not_disposable asks
    'disposable_domains' => null,
    // the set that the rule not_breached asks
    'breached_passwords' => null,
    // binds KeySieve\Adds\Adds: ['redis' => connection in config/database.php, with its timeout and read_timeout, since a transaction is open
    // meanwhile; 'prefix' => ?prefix= of the store's URL, if it has one;
    // 'queue' => connection in config/queue.php for what the store does not take, or null: add() throws]
    'adds' => null,
];
