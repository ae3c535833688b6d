<?php

// A long-running worker: takes pages from the list `pages` in Redis, {"id": 7, "tags": ["猫", …]}, and appends the links of
// their tags to the list `links`. It needs no restart for a new publication: php worker.php NAME
//
// - A page stays in the list `pages:taken:NAME` until its links are there. If a worker dies, the next one of that name
//   finishes its pages: give workers that run at the same time different names (systemd: worker@NAME.service, %i).
//   Queues such as Messenger's have something like this built in, as acknowledgement.
// - You need not attach or refresh anything: a lookup sees a new publication, an add, `keysieve bypass` and its
//   end at once. You can keep the Set.
// - It says where each job begins, and so notices expiry, the end of a timed bypass and a directory that was emptied.
// - While it idles it asks for the availability. Otherwise it would hold the memory of a publication that was replaced.
// - It ends after an hour, and its supervisor (systemd: Restart=always) starts another, with the latest code. It also ends when
//   Redis or the database is down.
// - A set that is unavailable answers maybe: right, but slow. The extension logs every change in the error log.

declare(strict_types=1);

use App\Database;
use App\TagKey;
use App\TagLinks;
use KeySieve\Keys\KeyedSet;

require __DIR__ . '/../../php/bootstrap.php'; // with Composer: vendor/autoload.php
require __DIR__ . '/../Database.php';
require __DIR__ . '/../tag_links/TagKey.php';
require __DIR__ . '/../tag_links/TagLinks.php';

const SECONDS_TO_LIVE = 3600;
const BYTES_TO_USE = 64 << 20; // of PHP's own memory, which does not include sets
const SECONDS_TO_WAIT = 1;

if ($argc !== 2) {
    fwrite(STDERR, "usage: php worker.php NAME\n");
    exit(64);
}
$stopped = false;
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function () use (&$stopped): void {
    $stopped = true;
});

$articles = new KeyedSet('encyclopedia', TagKey::class);
$offers = new KeyedSet('shop', TagKey::class);
$links = new TagLinks($articles, $offers, new Database());
$redis = new Redis();
$redis->connect((string) getenv('EXAMPLES_REDIS'), 0, 5.0, null, 0, SECONDS_TO_WAIT + 5.0);

$taken = "pages:taken:{$argv[1]}";
while (is_string($redis->rawCommand('LMOVE', $taken, 'pages', 'RIGHT', 'LEFT'))) {
}

$end = hrtime(true) + SECONDS_TO_LIVE * 1_000_000_000;
while (!$stopped && hrtime(true) < $end && memory_get_usage() < BYTES_TO_USE) {
    $fault = $redis->getLastError();
    if ($fault !== null) { // its memory is full, for example: end, and leave the page where it is
        throw new RedisException($fault);
    }
    $page = $redis->rawCommand('BLMOVE', 'pages', $taken, 'LEFT', 'RIGHT', SECONDS_TO_WAIT); // blMove() in phpredis 6
    KeySieve\begin_request();
    if (!is_string($page)) {
        $articles->set->availability();
        $offers->set->availability();
        continue;
    }
    try {
        ['id' => $id, 'tags' => $tags] = json_decode($page, true, flags: JSON_THROW_ON_ERROR);
        [$list, $done] = ['links', json_encode(['id' => $id, 'tags' => $links->of($tags)], JSON_THROW_ON_ERROR)];
    } catch (JsonException | TypeError $error) { // this page would always fail; any other error ends the worker
        error_log("pages:refused: {$error->getMessage()}");
        [$list, $done] = ['pages:refused', $page];
    }
    $redis->multi()->rPush($list, $done)->lRem($taken, $page, 1)->exec();
}
error_log('ends: ' . json_encode(KeySieve\stats(), JSON_THROW_ON_ERROR));
