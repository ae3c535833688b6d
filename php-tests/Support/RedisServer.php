<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A redis-server of its own on a unix socket; as a node of a RedisCluster on ports, too. Ends with the object. */
final class RedisServer
{
    public readonly string $socket;
    /** As keysieve knows it. */
    public readonly string $url;
    public readonly int $port;
    /** Where nodes talk to each other. */
    public readonly int $bus;
    private readonly Background $process;

    public function __construct(bool $isNode = false)
    {
        $folder = new Folder('redis');
        $this->socket = "$folder/redis.sock";
        $this->url = "redis+unix://{$this->socket}";
        for ($attempts = $isNode ? 10 : 1; ; --$attempts) { // another program may take the ports before Redis does
            [$port, $bus] = $isNode ? self::freePorts() : [0, 0];
            $command = ['redis-server', '--port', "$port", '--unixsocket', $this->socket, '--dir', (string) $folder, '--save', ''];
            $options = ['--cluster-enabled', 'yes', '--cluster-port', "$bus", '--cluster-announce-ip', '127.0.0.1'];
            $process = new Background($folder, $isNode ? [...$command, ...$options] : $command);
            if (Deadline::reaches(fn (): bool => $this->answers() || !$process->isRunning()) && $process->isRunning()) {
                break;
            }
            $attempts > 1 || throw new \RuntimeException("redis-server does not answer: {$process->output()}");
        }
        [$this->port, $this->bus, $this->process] = [$port, $bus, $process];
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

    public function command(string ...$words): string
    {
        return trim(Program::output(['redis-cli', '-s', $this->socket, ...$words]));
    }

    /** @return string[] the keys of a set's adds log */
    public function added(string $set): array
    {
        preg_match_all('/^key\n(.*)$/m', $this->command('XRANGE', "keysieve:$set:adds", '-', '+'), $added);
        return $added[1];
    }

    /** @return array{int, int} */
    private static function freePorts(): array
    {
        $port = static fn ($listener): int => (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
        $listeners = [stream_socket_server('tcp://127.0.0.1:0'), stream_socket_server('tcp://127.0.0.1:0')];
        return [$port($listeners[0]), $port($listeners[1])];
    }

    private function answers(): bool
    {
        $connection = @stream_socket_client("unix://{$this->socket}");
        return $connection !== false && @fwrite($connection, "PING\r\n") !== false && fgets($connection) === "+PONG\r\n";
    }
}
