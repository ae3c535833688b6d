<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A redis-server of its own on a unix socket, or a cluster of one on a port too. Ends with the object. */
final class RedisServer
{
    public readonly string $socket;
    /** As keysieve knows it. */
    public readonly string $url;
    public readonly int $port;
    private readonly Background $process;

    public function __construct(bool $cluster = false)
    {
        $folder = new Folder('redis');
        $this->socket = "$folder/redis.sock";
        $this->url = "redis+unix://{$this->socket}";
        // The bus of a cluster listens on another port, 10,000 above by default.
        [$this->port, $bus] = $cluster ? self::freePorts() : [0, 0];
        $command = ['redis-server', '--port', "{$this->port}", '--unixsocket', $this->socket, '--dir', (string) $folder, '--save', ''];
        $options = ['--cluster-enabled', 'yes', '--cluster-port', "$bus", '--cluster-announce-ip', '127.0.0.1'];
        $this->process = new Background($folder, $cluster ? [...$command, ...$options] : $command);
        $this->process->awaitListening("unix://{$this->socket}");
        if ($cluster) {
            $this->command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
            Deadline::reaches(fn (): bool => str_contains($this->command('CLUSTER', 'INFO'), 'cluster_state:ok'));
        }
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

    /** @return array{int, int} */
    private static function freePorts(): array
    {
        $port = static fn ($listener): int => (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
        $listeners = [stream_socket_server('tcp://127.0.0.1:0'), stream_socket_server('tcp://127.0.0.1:0')];
        return [$port($listeners[0]), $port($listeners[1])];
    }
}
