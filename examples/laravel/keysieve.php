<?php

// config/keysieve.php: each set with the class that makes its keys (null: values are keys).

declare(strict_types=1);

use App\TagKey;

return [
    'source' => 'files:' . storage_path('sets'), // without the extension
    'sets' => [
        'encyclopedia' => TagKey::class,
        'shop' => TagKey::class,
    ],
    'sources' => ['sources.encyclopedia', 'sources.shop'], // in AppServiceProvider
    'seen_sets' => ['clicks'],
    'disposable_domains' => 'disposable',
    'breached_passwords' => 'breached',
];
