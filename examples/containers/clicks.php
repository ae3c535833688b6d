<?php
// Which of the clicks were not there before? They come as ?clicks=a,b; the answer is JSON, and they count as seen from now on.

declare(strict_types=1);

$clicks = explode(',', $_GET['clicks'] ?? '');
$seen = new KeySieve\SeenSet('clicks');
header('Content-Type: application/json');
echo json_encode([
    'availability' => $seen->availability()->name,
    'new' => array_combine($clicks, $seen->addManyIfNew($clicks)),
]);
