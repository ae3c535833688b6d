<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

/** A server with coroutines on Amp, which Composer installs below build/frameworks: one process for all requests. */
#[Group('frameworks')]
final class CoroutineServerTest extends TestCase
{
    private const CONNECTIONS = 20;

    /** A coroutine per connection, and a request per line: keys. The answer is a line, too: which of them may be in the set, and what is known of it. */
    private const SERVER = <<<'PHP'
        <?php
        require $argv[1];
        $set = new KeySieve\Set('served');
        $server = Amp\Socket\listen($argv[2]);
        while ($socket = $server->accept()) {
            Amp\async(static function () use ($socket, $set): void {
                foreach (Amp\ByteStream\splitLines($socket) as $line) {
                    KeySieve\begin_request();
                    $keys = explode(' ', $line);
                    $first = array_values($set->candidates($keys));
                    Amp\delay(0); // other requests get their turn
                    $socket->write(json_encode([$first, array_values($set->candidates($keys)), $set->availability()->name, getmypid()]) . "\n");
                }
            });
        }
        PHP;

    public function testAllConnectionsFollowPublicationsAndAddsWithoutARestart(): void
    {
        SharedMemory::putWithLayer('served', ['a1']);
        $folder = new Folder('server');
        file_put_contents("$folder/server.php", self::SERVER);
        $autoloader = Framework::project('amp', ['amphp/socket' => '2.*']) . '/vendor/autoload.php';
        $server = new Background($folder, [...PhpScript::interpreter(), "$folder/server.php", $autoloader, "unix://$folder/socket"]);
        $server->awaitListening("unix://$folder/socket");
        $connections = array_map(static fn (): mixed => stream_socket_client("unix://$folder/socket", timeout: 60.0), range(1, self::CONNECTIONS));
        $expect = static function (string ...$present) use ($connections, $server): void { // all requests are sent before the first answer is read
            array_map(static fn (mixed $connection): mixed => fwrite($connection, "a1 b1 c1 absent\n"), $connections);
            $answers = array_map(static fn (mixed $connection): string => rtrim((string) fgets($connection)), $connections);
            self::assertSame([json_encode([$present, $present, 'Ready', $server->pid()])], array_values(array_unique($answers)), $server->output());
        };
        $expect('a1');
        SharedMemory::addLive('served', 'c1');
        $expect('a1', 'c1');
        for ($publication = 0; $publication < 5; ++$publication) {
            SharedMemory::putWithLayer('served', ['a1', 'b1']);
            $expect('a1', 'b1');
            SharedMemory::putWithLayer('served', ['a1']);
            $expect('a1');
        }
    }
}
