<?php
// A page of ten tags: which of them have an article, which a product? Tags come in the request's body, one per line; the
// answers are tab-separated text. tools/quickstart calls it through php-fpm, and shows what the fastest of 100 rounds took.

declare(strict_types=1);

$tags = explode("\n", trim(file_get_contents('php://input')));

$fastest = INF;
for ($round = 0; $round < 100; ++$round) {
    $began = hrtime(true);
    $articles = (new KeySieve\Set('encyclopedia'))->mayContainMany($tags);
    $products = (new KeySieve\Set('shop'))->mayContainMany($tags);
    $fastest = min($fastest, hrtime(true) - $began);
}

header('Content-Type: text/plain; charset=UTF-8');
header('X-Worker: ' . getmypid());
header('X-Nanoseconds: ' . $fastest);
foreach ($tags as $i => $tag) {
    echo $articles[$i] ? 'maybe' : 'absent', "\t", $products[$i] ? 'maybe' : 'absent', "\t", $tag, "\n";
}
