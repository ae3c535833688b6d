<?php

// What a way to ask whether keys exist is: a class. fill() makes its store, once; a process that asks makes an object.

declare(strict_types=1);

require_once __DIR__ . '/keys.php';

/** What a method needs to know: how many keys there are, and the folder with files and sockets. */
final class Place
{
    public function __construct(public readonly int $count, public readonly string $folder)
    {
    }

    public function file(string $suffix): string
    {
        return "{$this->folder}/{$this->count}.$suffix";
    }
}

abstract class Method
{
    public function __construct(protected readonly Place $place)
    {
    }

    /** Makes what all processes share; keysieve's sets are made by the shell script. */
    public static function fill(Place $place): void
    {
    }

    /**
     * @param string[][] $pages
     * @return int how many of their keys may exist
     */
    abstract public function ask(array $pages): int;

    /** Bytes that all processes share. */
    public function sharedBytes(): int
    {
        return 0;
    }
}

final class EmptyLoop extends Method
{
    public function ask(array $pages): int
    {
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
            }
        }
        return 0;
    }
}
