<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A folder of its own. Ends with the object. */
final class Folder implements \Stringable
{
    private readonly string $path;

    public function __construct(string $name, int $mode = 0700, ?string $parent = null)
    {
        $this->path = ($parent ?? sys_get_temp_dir()) . "/keysieve-$name-" . bin2hex(random_bytes(6));
        mkdir($this->path, $mode);
    }

    public function __destruct()
    {
        Program::output(['rm', '-rf', $this->path]);
    }

    public function __toString(): string
    {
        return $this->path;
    }
}
