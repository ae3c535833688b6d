<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/**
 * In place of PHP's own functions for files: like those that Swoole puts there, they switch to another fiber before each step.
 * `stream_get_contents()` with an offset has two.
 */
final class Switching
{
    /** @var ?resource */
    public $context;
    /** @var resource */
    private $file;
    private int $mostBytes = PHP_INT_MAX; // that are read at once

    /** From now on all files of this process are opened like this. Load the classes that you need before. */
    public static function begin(): void
    {
        stream_wrapper_unregister('file');
        stream_wrapper_register('file', self::class);
    }

    /**
     * Runs all functions at the same time, in an order by chance, until each has returned.
     *
     * @param array<callable(): mixed> $functions
     * @return array<mixed> what they have returned
     */
    public static function run(array $functions): array
    {
        $fibers = array_map(static fn (callable $function): \Fiber => new \Fiber($function), $functions);
        for ($running = $fibers; $running !== [];) {
            $index = array_rand($running);
            $running[$index]->isStarted() ? $running[$index]->resume() : $running[$index]->start();
            if ($running[$index]->isTerminated()) {
                unset($running[$index]);
            }
        }
        return array_map(static fn (\Fiber $fiber): mixed => $fiber->getReturn(), $fibers);
    }

    /** Without a switch: PHP refuses to open a file while one of the same name is being opened. */
    public function stream_open(string $path, string $mode): bool
    {
        $this->file = self::really(static fn () => @fopen($path, $mode), switches: false);
        if ($this->file === false) {
            return false;
        }
        stream_set_read_buffer($this->file, 0);
        if (preg_match('~(/control|\.live)\z~', $path) === 1) {
            $this->mostBytes = 8; // PHP keeps in a buffer what it did not ask for, whatever it was told, and others write to these files
        }
        return true;
    }

    public function stream_read(int $length): string|false
    {
        return self::really(fn () => fread($this->file, min($length, $this->mostBytes)));
    }

    public function stream_seek(int $offset, int $whence): bool
    {
        return self::really(fn () => fseek($this->file, $offset, $whence)) === 0;
    }

    public function stream_tell(): int
    {
        return ftell($this->file);
    }

    public function stream_eof(): bool
    {
        return feof($this->file);
    }

    /** @return array<int|string, int> */
    public function stream_stat(): array
    {
        return self::really(fn () => fstat($this->file));
    }

    public function stream_set_option(int $option, int $first, ?int $second): bool
    {
        return $option === STREAM_OPTION_READ_BUFFER; // it never has one
    }

    /** @return array<int|string, int>|false */
    public function url_stat(string $path, int $flags): array|false
    {
        return self::really(static fn () => ($flags & STREAM_URL_STAT_LINK) === 0 ? @stat($path) : @lstat($path));
    }

    /** With PHP's own functions for files. */
    public static function really(callable $call, bool $switches = true): mixed
    {
        if ($switches && \Fiber::getCurrent() !== null) {
            \Fiber::suspend();
        }
        stream_wrapper_restore('file');
        try {
            return $call();
        } finally {
            self::begin();
        }
    }
}
