<?php

declare(strict_types=1);

use App\TagKey;

return [
    'source' => 'files:' . storage_path('sets'),
    'seen_sets' => ['clicks'],
    'sets' => ['encyclopedia' => TagKey::class, 'shop' => TagKey::class, 'products' => null],
    'sources' => ['sources.encyclopedia', 'sources.shop'],
    'disposable_domains' => 'disposable',
    'breached_passwords' => 'breached',
    'adds' => ['redis' => 'default', 'queue' => 'database'],
];
