<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A running keysieved that publishes sets of an LMDB store of its own into this process's directory. Ends with the object. */
final class Loader
{
    public readonly string $store;
    private readonly Folder $folder;
    private Background $daemon;
    private string $programs;

    /**
     * @param string[] $sets
     * @param ?string  $directory where it publishes [that of this process]
     * @param ?string  $programs  folder of keysieve and keysieved [what was built]
     * @param string   $scheme    of its store
     * @param string   $settings  more of its configuration
     */
    public function __construct(array $sets, ?string $directory = null, ?string $programs = null, string $scheme = 'lmdb', string $settings = '')
    {
        $this->programs = $programs ?? getenv('KEYSIEVE_BIN_DIR');
        $this->folder = new Folder('loader');
        mkdir("{$this->folder}/store", 0700);
        mkdir("{$this->folder}/cache", 0700);
        $this->store = "$scheme:{$this->folder}/store";
        $directory ??= SharedMemory::directory();
        $lines = [
            "directory = \"$directory\"",
            "cache = \"{$this->folder}/cache\"",
            'poll_interval = "20ms"',
            '[store.main]',
            "url = \"{$this->store}\"",
        ];
        foreach ($sets as $set) {
            array_push($lines, '[[set]]', "name = \"$set\"", 'store = "main"');
        }
        file_put_contents("{$this->folder}/keysieve.toml", implode("\n", $lines) . "\n$settings");
        $this->start();
    }

    /** Pushes a snapshot into the store, by other programs than its own when told; keysieved will find it there. */
    public function push(string $snapshot, ?string $programs = null): void
    {
        Program::output([($programs ?? $this->programs) . '/keysieve', 'push', $snapshot, $this->store]);
    }

    /** Adds keys to the log of a set; keysieved will find them there. */
    public function add(string $set, string ...$keys): void
    {
        Program::output(["{$this->programs}/keysieve", 'add', $set, ...$keys, $this->store]);
    }

    /**
     * Ends keysieved by that signal and starts another one, of other programs when told.
     *
     * @param string[] $removed folders that are gone in between
     */
    public function restart(int $signal, ?string $programs = null, array $removed = []): void
    {
        $this->daemon->end($signal);
        Program::output(['rm', '-rf', ...$removed]);
        $this->programs = $programs ?? $this->programs;
        $this->start();
    }

    public function log(): string
    {
        return $this->daemon->output();
    }

    private function start(): void
    {
        $command = ["{$this->programs}/keysieved", '--config', "{$this->folder}/keysieve.toml"];
        $this->daemon = new Background($this->folder, $command);
    }
}
