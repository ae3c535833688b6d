<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A redis-server of its own on a unix socket. Ends with the object. */
final class RedisServer
{
    public readonly string $socket;
    /** As keysieve knows it. */
    public readonly string $url;
    private readonly string $folder;
    /** @var ?resource */
    private $process;

    public function __construct()
    {
        $this->folder = sys_get_temp_dir() . '/keysieve-redis-' . bin2hex(random_bytes(6));
        mkdir($this->folder, 0700);
        $this->socket = "{$this->folder}/redis.sock";
        $this->url = "redis+unix://{$this->socket}";
        $output = ['file', "{$this->folder}/output", 'w'];
        $this->process = proc_open(
            ['redis-server', '--port', '0', '--unixsocket', $this->socket, '--dir', $this->folder, '--save', ''],
            [['file', '/dev/null', 'r'], $output, $output],
            $pipes,
        );
        if (!Deadline::reaches(fn (): bool => @stream_socket_client("unix://{$this->socket}") !== false)) {
            throw new \RuntimeException('redis-server did not start: ' . file_get_contents("{$this->folder}/output"));
        }
    }

    public function __destruct()
    {
        $this->stop();
        array_map('unlink', glob("{$this->folder}/*"));
        rmdir($this->folder);
    }

    public function stop(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGKILL);
            proc_close($this->process);
            $this->process = null;
        }
    }

    /** Holds all clients up, as a host does that is out of memory. */
    public function freeze(): void
    {
        proc_terminate($this->process, SIGSTOP);
    }

    public function thaw(): void
    {
        proc_terminate($this->process, SIGCONT);
    }

    public function command(string ...$words): string
    {
        return trim(Program::output(['redis-cli', '-s', $this->socket, ...$words]));
    }
}
