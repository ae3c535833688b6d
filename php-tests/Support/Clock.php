<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/**
 * A clock that moves only when it is told to, for processes that are started with its environment: no test waits until
 * something expires, and nothing expires because the machine is slow. It is that of libfaketime. Ends with the object.
 */
final class Clock
{
    private const LIBRARY = '/usr/$LIB/faketime/libfaketime.so.1'; // the loader knows $LIB

    private readonly string $file;
    private int $now;

    public function __construct()
    {
        $this->file = tempnam(sys_get_temp_dir(), 'keysieve-clock-');
        chmod($this->file, 0644); // processes may be of other users
        $this->now = time();
        $this->advance(0);
    }

    public function __destruct()
    {
        unlink($this->file);
    }

    /**
     * @return array<string, string> also for PHP code that moves the clock itself, by writing to FAKETIME_TIMESTAMP_FILE.
     *                               The file is overwritten (mode "c") and never empty, which libfaketime 0.9.12 refuses.
     */
    public function environment(): array
    {
        return [
            'LD_PRELOAD' => self::LIBRARY,
            'FAKETIME_TIMESTAMP_FILE' => $this->file,
            'FAKETIME_NO_CACHE' => '1',
            'FAKETIME_FMT' => '%s',
        ];
    }

    public function now(): int
    {
        return $this->now;
    }

    public function advance(int $seconds): void
    {
        $this->now += $seconds;
        fwrite(fopen($this->file, 'c'), (string) $this->now);
    }
}
