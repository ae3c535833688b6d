<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A directory in memory, as /run is, with sets of its own. Ends with the object. */
final class Tmpfs
{
    public readonly string $path;
    private readonly Folder $folder;
    private int $mounts = 0;

    /** @param ?string $options of a mount of its own, which only root can have; else below /dev/shm */
    public function __construct(private readonly ?string $options = null)
    {
        $this->folder = new Folder('sets', 0711, '/dev/shm');
        $this->path = (string) $this->folder;
        if ($options !== null) {
            $this->mount();
        }
    }

    /** Mounts an empty one, over what is there. */
    public function mount(): void
    {
        Program::output(['mount', '-t', 'tmpfs', '-o', "{$this->options},mode=0711", 'tmpfs', $this->path]);
        ++$this->mounts;
    }

    public function __destruct()
    {
        while ($this->mounts-- > 0) {
            Program::output(['umount', '--lazy', $this->path]);
        }
    }
}
