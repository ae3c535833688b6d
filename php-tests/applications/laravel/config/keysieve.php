<?php

declare(strict_types=1);

use App\TagKey;

return [
    'sets' => ['encyclopedia' => TagKey::PROFILE, 'shop' => TagKey::PROFILE, 'products' => null],
    'disposable_domains' => 'disposable',
    'breached_passwords' => 'breached',
    'adds' => ['redis' => 'default', 'queue' => 'database'],
];
