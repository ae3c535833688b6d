<?php
// Which of the sets has each word? Words come in the request's body, one per line; the answers are tab-separated text.
// tools/quickstart calls it through php-fpm.

declare(strict_types=1);

$where = new KeySieve\Map('where');
$unknown = fn (string $word): array => ['ask the database'];

header('Content-Type: text/plain; charset=UTF-8');
header('X-Worker: ' . getmypid());
foreach (explode("\n", trim(file_get_contents('php://input'))) as $word) {
    echo implode(' and ', $where->setsOf($word, $unknown)) ?: 'neither', "\t", $word, "\n";
}
