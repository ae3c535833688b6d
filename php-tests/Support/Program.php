<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A program that has ended: its exit status and what it wrote. */
final class Program
{
    private function __construct(
        public readonly int $status,
        public readonly string $output,
        public readonly string $errors,
    ) {
    }

    /**
     * @param string[]              $command
     * @param array<string, string> $environment added to this process's own
     */
    public static function run(array $command, array $environment = []): self
    {
        $files = [['file', '/dev/null', 'r'], tmpfile(), tmpfile()];
        $process = proc_open($command, $files, $pipes, null, $environment + self::inheritedBy($command));
        if ($process === false) {
            throw new \RuntimeException("cannot start {$command[0]}");
        }
        $status = proc_close($process);
        $read = static fn ($file): string => rewind($file) ? stream_get_contents($file) : '';
        return new self($status, $read($files[1]), $read($files[2]));
    }

    /** The same for a program that must succeed. */
    public static function succeed(array $command, array $environment = []): self
    {
        $program = self::run($command, $environment);
        if ($program->status !== 0) {
            $all = $program->output . $program->errors;
            throw new \RuntimeException(implode(' ', $command) . " ended with {$program->status}: $all");
        }
        return $program;
    }

    /** The same; returns what it wrote to standard output. */
    public static function output(array $command): string
    {
        return self::succeed($command)->output;
    }

    /** The same for `keysieve`. */
    public static function keysieve(string ...$arguments): string
    {
        return self::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', ...$arguments]);
    }

    /**
     * @param string[] $command
     * @return array<string, string> this process's environment, without the library of a sanitizer, which is for PHP:
     *     with it, keysieved may wait for ever at its end
     */
    public static function inheritedBy(array $command): array
    {
        $inherited = getenv();
        if (str_ends_with(reset($command) ?: '', '/keysieved')) {
            unset($inherited['LD_PRELOAD']);
        }
        return $inherited;
    }
}
