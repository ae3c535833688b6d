<?php

declare(strict_types=1);

use KeySieve\Set;

use function Amp\async;
use function Amp\ByteStream\splitLines;
use function Amp\delay;
use function Amp\Socket\listen;

// A server as Swoole and Amp have them: one process, a coroutine per connection, and a request per line: keys of the set "served".
// The answer is a line, too: which of them may be in the set, and what is known of it. CoroutineServerTest starts it.
//
//   php coroutine_server.php AUTOLOADER ADDRESS

require $argv[1];

$set = new Set('served');
$server = listen($argv[2]);
while ($socket = $server->accept()) {
    async(static function () use ($socket, $set): void {
        foreach (splitLines($socket) as $line) {
            KeySieve\begin_request();
            $keys = explode(' ', $line);
            $first = array_values($set->candidates($keys));
            delay(0); // other requests get their turn
            $socket->write(json_encode([$first, array_values($set->candidates($keys)), $set->availability()->name, getmypid()]) . "\n");
        }
    });
}
