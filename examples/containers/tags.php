<?php
// Which of the tags may exist? They come as ?tags=a,b; the answer is JSON, with facts about the set.

declare(strict_types=1);

$tags = explode(',', $_GET['tags'] ?? '');
$set = new KeySieve\Set('tags');
header('Content-Type: application/json');
echo json_encode([
    'availability' => $set->availability()->name,
    'generation' => $set->info()?->generation,
    'maybe' => array_combine($tags, $set->mayContainMany($tags)),
]);
