<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A running keysieved that publishes sets of one LMDB store into this process's directory. Ends with the object. */
final class Loader
{
    private readonly string $folder;
    /** @var resource */
    private $daemon;

    /** @param string[] $sets */
    public function __construct(array $sets)
    {
        $this->folder = sys_get_temp_dir() . '/keysieve-loader-' . bin2hex(random_bytes(6));
        foreach (['', '/store', '/cache'] as $folder) {
            mkdir($this->folder . $folder, 0700);
        }
        file_put_contents("{$this->folder}/keysieve.toml", $this->configuration($sets));
        $log = ['file', "{$this->folder}/log", 'a'];
        $this->daemon = proc_open(
            [getenv('KEYSIEVE_BIN_DIR') . '/keysieved', '--config', "{$this->folder}/keysieve.toml"],
            [['file', '/dev/null', 'r'], $log, $log],
            $pipes,
        );
    }

    public function __destruct()
    {
        proc_terminate($this->daemon, SIGTERM);
        proc_close($this->daemon);
        foreach (['/store', '/cache', ''] as $folder) {
            array_map('unlink', array_filter(glob($this->folder . $folder . '/*'), is_file(...)));
            rmdir($this->folder . $folder);
        }
    }

    /** Pushes a snapshot into the store; keysieved will find it there. */
    public function push(string $snapshot): void
    {
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'push', $snapshot, "lmdb:{$this->folder}/store"]);
    }

    public function log(): string
    {
        return file_get_contents("{$this->folder}/log");
    }

    /** @param string[] $sets */
    private function configuration(array $sets): string
    {
        $lines = [
            'directory = "' . SharedMemory::directory() . '"',
            "cache = \"{$this->folder}/cache\"",
            'poll_interval = "20ms"',
            '[store.main]',
            "url = \"lmdb:{$this->folder}/store\"",
        ];
        foreach ($sets as $set) {
            array_push($lines, '[[set]]', "name = \"$set\"", 'store = "main"');
        }
        return implode("\n", $lines) . "\n";
    }
}
