<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Program;

/** The folder of a set, written as the loader does it: what readers have mapped is never shortened or written over. */
final class PublishedFolder
{
    public function __construct(public readonly string $path)
    {
    }

    public static function fileName(int $publication, string $ending): string
    {
        return sprintf('%016x.%s', $publication, $ending);
    }

    /** Makes the folder too. A file of that name is replaced. */
    public function write(string $name, string $bytes): void
    {
        clearstatcache(true);
        if (!is_dir($this->path)) {
            mkdir($this->path, 0755);
        }
        $this->remove('new');
        file_put_contents("$this->path/new", $bytes);
        $this->remove($name, onlyIfInTheWay: true);
        rename("$this->path/new", "$this->path/$name");
    }

    public function read(string $name): ?string
    {
        clearstatcache(true);
        return is_file("$this->path/$name") ? file_get_contents("$this->path/$name") : null;
    }

    /** Stores numbers in the control page that is there. */
    public function store(int ...$fields): void
    {
        $file = fopen("$this->path/control", 'r+');
        foreach ($fields as $field => $value) {
            fseek($file, ControlBytes::FIELDS[$field][0]);
            fwrite($file, pack('P', $value));
        }
    }

    /** Sets bits in a live layer that is there. */
    public function add(int $publication, string ...$keys): void
    {
        $name = self::fileName($publication, 'live');
        $live = new LiveBytes($this->read($name));
        array_map($live->add(...), $keys);
        fwrite(fopen("$this->path/$name", 'r+'), $live->bytes);
    }

    public function remove(string $name, bool $onlyIfInTheWay = false): void
    {
        clearstatcache(true);
        $path = "$this->path/$name";
        if (is_dir($path) && !is_link($path)) {
            rmdir($path);
        } elseif (!$onlyIfInTheWay && (file_exists($path) || is_link($path))) {
            unlink($path);
        }
    }

    public function wipe(): void
    {
        Program::succeed(['rm', '-rf', $this->path]);
    }
}
