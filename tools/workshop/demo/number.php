<?php
// On which page is each word? Words come in the request's body, one per line; the answers are tab-separated text.
// tools/quickstart calls it through php-fpm.

declare(strict_types=1);

$pages = new KeySieve\Map('pages');
$unknown = fn (string $word): int => throw new RuntimeException('here a program asks its database');

header('Content-Type: text/plain; charset=UTF-8');
header('X-Worker: ' . getmypid());
foreach (explode("\n", trim(file_get_contents('php://input'))) as $word) {
    echo $pages->get($word, $unknown) ?? 'none', "\t", $word, "\n";
}
