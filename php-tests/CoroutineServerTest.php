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

    private Folder $folder;
    private Background $server;

    protected function tearDown(): void
    {
        unset($this->server, $this->folder);
    }

    public function testAllConnectionsFollowPublicationsAndAddsWithoutARestart(): void
    {
        SharedMemory::putWithLayer('served', ['a1']);
        $this->start();
        $connections = array_map(fn (): mixed => $this->connect(), range(1, self::CONNECTIONS));
        $expect = function (string ...$present) use ($connections): void {
            $answers = self::ask($connections, 'a1 b1 c1 absent');
            self::assertSame([json_encode([$present, $present, 'Ready', $this->server->pid()])], array_values(array_unique($answers)));
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

    private function start(): void
    {
        $this->folder = new Folder('server');
        $script = __DIR__ . '/Support/coroutine_server.php';
        $autoloader = Framework::project('amp', ['amphp/socket' => '2.*']) . '/vendor/autoload.php';
        $command = [...PhpScript::interpreter(), $script, $autoloader, $this->address()];
        $this->server = new Background($this->folder, $command);
        $this->server->awaitListening($this->address());
    }

    private function address(): string
    {
        return "unix://$this->folder/socket";
    }

    /** @return resource */
    private function connect(): mixed
    {
        return stream_socket_client($this->address(), timeout: 60.0) ?: throw new \RuntimeException($this->server->output());
    }

    /**
     * Sends a request by each before it reads the first answer.
     *
     * @param resource[] $connections
     * @return string[]
     */
    private static function ask(array $connections, string $keys): array
    {
        array_map(static fn (mixed $connection): mixed => fwrite($connection, "$keys\n"), $connections);
        return array_map(static fn (mixed $connection): string => rtrim((string) fgets($connection)), $connections);
    }
}
