<?php
// A page of ten tags: which of them have an article, which a product? Tags come in the request's body, one per line; the
// answers are tab-separated text. tools/quickstart calls it through php-fpm.

declare(strict_types=1);

$tags = explode("\n", trim(file_get_contents('php://input')));

$articles = (new KeySieve\Set('encyclopedia'))->mayContainMany($tags);
$products = (new KeySieve\Set('shop'))->mayContainMany($tags);

header('Content-Type: text/plain; charset=UTF-8');
header('X-Worker: ' . getmypid());
foreach ($tags as $i => $tag) {
    echo $articles[$i] ? 'maybe' : 'absent', "\t", $products[$i] ? 'maybe' : 'absent', "\t", $tag, "\n";
}
