<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A running keysieved that publishes sets of one store into this process's directory. Ends with the object. */
final class Loader
{
    public readonly string $store;
    private readonly string $folder;
    /** @var resource */
    private $daemon;

    /**
     * @param string[] $sets
     * @param ?string  $store by default an LMDB store of its own
     */
    public function __construct(array $sets, ?string $store = null)
    {
        $this->folder = sys_get_temp_dir() . '/keysieve-loader-' . bin2hex(random_bytes(6));
        foreach (['', '/store', '/cache'] as $folder) {
            mkdir($this->folder . $folder, 0700);
        }
        $this->store = $store ?? "lmdb:{$this->folder}/store";
        file_put_contents("{$this->folder}/keysieve.toml", $this->configuration($sets));
        $this->start();
    }

    public function __destruct()
    {
        $this->stop(SIGTERM);
        foreach (['/store', '/cache', ''] as $folder) {
            array_map('unlink', array_filter(glob($this->folder . $folder . '/*'), is_file(...)));
            rmdir($this->folder . $folder);
        }
    }

    /** Pushes a snapshot into the store; keysieved will find it there. */
    public function push(string $snapshot): void
    {
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'push', $snapshot, $this->store]);
    }

    /** Adds keys to the log of a set; keysieved will find them there. */
    public function add(string $set, string ...$keys): void
    {
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'add', $set, ...$keys, $this->store]);
    }

    /** Ends keysieved by that signal and starts another one. */
    public function restart(int $signal): void
    {
        $this->stop($signal);
        $this->start();
    }

    public function log(): string
    {
        return file_get_contents("{$this->folder}/log");
    }

    private function start(): void
    {
        $log = ['file', "{$this->folder}/log", 'a'];
        $this->daemon = proc_open(
            [getenv('KEYSIEVE_BIN_DIR') . '/keysieved', '--config', "{$this->folder}/keysieve.toml"],
            [['file', '/dev/null', 'r'], $log, $log],
            $pipes,
        );
    }

    private function stop(int $signal): void
    {
        proc_terminate($this->daemon, $signal);
        proc_close($this->daemon);
    }

    /** @param string[] $sets */
    private function configuration(array $sets): string
    {
        $lines = [
            'directory = "' . SharedMemory::directory() . '"',
            "cache = \"{$this->folder}/cache\"",
            'poll_interval = "20ms"',
            '[store.main]',
            "url = \"{$this->store}\"",
        ];
        foreach ($sets as $set) {
            array_push($lines, '[[set]]', "name = \"$set\"", 'store = "main"');
        }
        return implode("\n", $lines) . "\n";
    }
}
