<?php
// A page of ten tags: which of them have an article, which a product? Tags come in the request's body, one per line; the
// answers are tab-separated text. tools/quickstart calls it through php-fpm.

declare(strict_types=1);

$tags = explode("\n", trim(file_get_contents('php://input')));

$keys = array_map(fn (string $tag) => new KeySieve\Key($tag), $tags);   // each is hashed once, for both sets
$articles = (new KeySieve\Set('encyclopedia'))->mayContainMany($keys);
$products = (new KeySieve\Set('shop'))->mayContainMany($keys);

header('Content-Type: text/plain; charset=UTF-8');
header('X-Worker: ' . getmypid());
foreach ($tags as $i => $tag) {
    echo $articles[$i] ? 'maybe' : 'absent', "\t", $products[$i] ? 'maybe' : 'absent', "\t", $tag, "\n";
}
