<?php

declare(strict_types=1);

use App\TagKey;

return [
    'source' => 'files:' . storage_path('sets'),
    'seen_sets' => ['clicks'],
    'sources' => [App\Fruits::class],
    'sets' => ['encyclopedia' => TagKey::PROFILE, 'shop' => TagKey::PROFILE, 'products' => null],
    'disposable_domains' => 'disposable',
    'breached_passwords' => 'breached',
    'adds' => ['redis' => 'default', 'queue' => 'database'],
];
