<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A redis-server of its own on a unix socket; as a node of a cluster on ports, too. Ends with the object. */
final class RedisServer
{
    public readonly string $socket;
    public readonly int $port;
    /** Where nodes talk to each other. */
    public readonly int $bus;
    private readonly Background $process;

    public function __construct(bool $isNode = false)
    {
        $folder = new Folder('redis');
        $this->socket = "$folder/redis.sock";
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

    /** @return array{self, self} that share the keys */
    public static function cluster(): array
    {
        [$first, $second] = $nodes = [new self(isNode: true), new self(isNode: true)];
        $first->command('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
        $second->command('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
        $first->command('CLUSTER', 'MEET', '127.0.0.1', "$second->port", "$second->bus");
        foreach ($nodes as $node) {
            Deadline::reaches(static fn (): bool => str_contains($node->command('CLUSTER', 'INFO'), 'cluster_state:ok'));
        }
        return $nodes;
    }

    public function __destruct()
    {
        $this->process->end(SIGKILL);
    }

    public function pid(): int
    {
        return $this->process->pid();
    }

    /** In a cluster, asks the node that has the key. */
    public function command(string ...$words): string
    {
        $server = $this->port === 0 ? ['-s', $this->socket] : ['-c', '-p', "$this->port"];
        return trim(Program::output(['redis-cli', ...$server, ...$words]));
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
