<?php

// The tags of a page, each with links that lead to a result: /page.php?tags=猫,桜 or php page.php 猫 桜

declare(strict_types=1);

use App\Database;
use App\TagKey;
use App\TagLinks;
use KeySieve\Keys\KeyedSet;

require __DIR__ . '/../../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/../Database.php';
require __DIR__ . '/TagKey.php';
require __DIR__ . '/TagLinks.php';

$tags = PHP_SAPI === 'cli' ? array_slice($argv, 1) : explode(',', (string) filter_input(INPUT_GET, 'tags'));
$db = new Database();
$links = new TagLinks(new KeyedSet('encyclopedia', TagKey::class), new KeyedSet('shop', TagKey::class), $db);

header('Content-Type: text/html; charset=utf-8');
echo "<ul>\n";
foreach ($links->of(array_slice($tags, 0, 20)) as ['tag' => $tag, 'article' => $article, 'offers' => $offers]) {
    echo '<li>', htmlspecialchars($tag);
    if ($article !== null) {
        echo ' <a href="/articles/', rawurlencode($article), '">article</a>';
    }
    if ($offers > 0) {
        echo ' <a href="/shop?tag=', rawurlencode(TagKey::of($tag)), "\">offers ($offers)</a>";
    }
    echo "</li>\n";
}
echo "</ul>\n<!-- {$db->queries} queries -->\n";
