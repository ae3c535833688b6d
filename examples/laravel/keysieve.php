<?php

// config/keysieve.php: each set with the rules that its keys are normalised by (null: any).

declare(strict_types=1);

use App\TagKey;

return [
    'sets' => [
        'encyclopedia' => TagKey::PROFILE,
        'shop' => TagKey::PROFILE,
    ],
];
