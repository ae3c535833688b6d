<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A directory in memory, as /run is, with sets of its own. Ends with the object. */
final class Tmpfs
{
    public readonly string $path;

    /** @param ?string $options of a mount of its own, which only root can have; else below /dev/shm */
    public function __construct(private readonly ?string $options = null)
    {
        $this->path = '/dev/shm/keysieve-' . bin2hex(random_bytes(6));
        mkdir($this->path, 0711);
        if ($options !== null) {
            Program::output(['mount', '-t', 'tmpfs', '-o', "$options,mode=0711", 'tmpfs', $this->path]);
        }
    }

    public function __destruct()
    {
        if ($this->options !== null) {
            Program::output(['umount', '--lazy', $this->path]);
        }
        Program::output(['rm', '-rf', $this->path]);
    }

    /** @param string[] $options of `keysieve publish` */
    public function publish(string $snapshot, array $options = []): void
    {
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'publish', '--directory', $this->path, ...$options, $snapshot]);
    }
}
