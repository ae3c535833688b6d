<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A seen set below the directory that this process reads, with windows that open when a test says so. Ends with the object. */
final class SeenWindows
{
    private readonly string $directory;

    private function __construct(public readonly string $set, ?string $directory = null)
    {
        $this->directory = $directory ?? SharedMemory::directory();
    }

    /** With one window. This process looks for it at its next call. */
    public static function open(string $set, int $keys = 10_000, float $rate = 1e-6, string $onUnavailable = 'new', ?string $directory = null): self
    {
        $windows = new self($set, $directory);
        $windows->change('open', (string) $keys, (string) $rate, $onUnavailable);
        \KeySieve\begin_request();
        return $windows;
    }

    /** Without windows, as while the loader restores them. */
    public static function restoring(string $set, string $onUnavailable): self
    {
        $windows = new self($set);
        $windows->change('restore', $onUnavailable);
        return $windows;
    }

    /** The memory outlives its folder. */
    public function __destruct()
    {
        if (is_file($this->folder() . '/page')) {
            $this->change('remove');
        }
    }

    public function append(): void
    {
        $this->change('append');
    }

    /** One more filter for the newest window. */
    public function grow(): void
    {
        $this->change('grow');
    }

    public function folder(): string
    {
        return "{$this->directory}/seen.d/{$this->set}";
    }

    private function change(string ...$arguments): void
    {
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/seen_windows', $this->directory, $this->set, ...$arguments]);
    }
}
