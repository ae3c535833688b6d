<?php

// config/keysieve.php: each set with the rules by which its keys must have been normalised (null: any).

declare(strict_types=1);

use App\TagKey;

return [
    'source' => 'files:' . storage_path('sets'), // without the extension
    'sets' => [
        'encyclopedia' => TagKey::PROFILE,
        'shop' => TagKey::PROFILE,
    ],
    'seen_sets' => ['clicks'],
    'disposable_domains' => 'disposable',
    'breached_passwords' => 'breached',
];
