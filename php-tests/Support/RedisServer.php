<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A redis-server of its own on a unix socket. Ends with the object. */
final class RedisServer
{
    public readonly string $socket;
    /** As keysieve knows it. */
    public readonly string $url;
    private readonly Background $process;

    public function __construct()
    {
        $folder = new Folder('redis');
        $this->socket = "$folder/redis.sock";
        $this->url = "redis+unix://{$this->socket}";
        $command = ['redis-server', '--port', '0', '--unixsocket', $this->socket, '--dir', (string) $folder, '--save', ''];
        $this->process = new Background($folder, $command);
        $this->process->awaitListening("unix://{$this->socket}");
    }

    public function __destruct()
    {
        $this->stop();
    }

    public function stop(): void
    {
        $this->process->end(SIGKILL);
    }

    /** Keeps all clients waiting, as a host that is out of memory does. */
    public function freeze(): void
    {
        $this->process->signal(SIGSTOP);
    }

    public function thaw(): void
    {
        $this->process->signal(SIGCONT);
    }

    public function command(string ...$words): string
    {
        return trim(Program::output(['redis-cli', '-s', $this->socket, ...$words]));
    }
}
