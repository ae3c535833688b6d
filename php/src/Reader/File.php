<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** An open file that is read without a buffer, because others write to it. */
final class File
{
    public const REGULAR = 0100000;
    public const DIRECTORY = 0040000;
    public const LINK = 0120000;
    private const MODE = 'rbn'; // n: opening a pipe, which may have just taken the place of a file, does not wait for its other end

    private static ?\Closure $note = null;
    private static ?string $warning = null;

    private bool $isBusy = false; // between a seek and a read, where a signal handler or another coroutine may want to read, too

    /**
     * @param resource $stream
     * @param array<int|string, int> $status what fstat() said when it was opened
     */
    private function __construct(private $stream, public readonly string $path, public readonly array $status)
    {
    }

    /**
     * @param ?array<int|string, int> $found as of statusOf()
     * @throws Failure unless it is a regular file
     */
    public static function open(string $path, ?array $found): self
    {
        if ($found !== null && self::type($found) !== self::REGULAR) {
            throw new Failure("$path: not a regular file");
        }
        $file = self::opened($path);
        if ($file === null || !$file->isAt($found)) {
            // It was just replaced. Or PHP, which remembers for two minutes where links lead, has gone where one on the way led before.
            clearstatcache(true);
            $file = self::opened($path);
        }
        return $file ?? throw new Failure("$path: " . self::$warning);
    }

    /**
     * What stat() says now, or lstat() if told so; null if nothing is there.
     *
     * @return ?array<int|string, int>
     * @throws Failure if it cannot be known, or is a link that leads nowhere
     */
    public static function statusOf(string $path, bool $ofLink = false): ?array
    {
        clearstatcache(PHP_ZTS === 1); // with threads, PHP itself resolves links for stat()
        for ($tries = 1;; ++$tries) {
            $status = self::quietly(static fn () => $ofLink ? lstat($path) : stat($path));
            if ($status !== false || self::quietly(static fn () => self::isNothing($path))) {
                return $status ?: null;
            }
            if ($tries === 2) {
                throw new Failure("$path: " . (self::opened($path) === null ? self::$warning : 'has just appeared'));
            }
            clearstatcache(true); // under open_basedir, PHP has looked where a link on the way led before
        }
    }

    /** @param ?array<int|string, int> $found as of statusOf() */
    public function isAt(?array $found): bool
    {
        return $found !== null && $this->status['ino'] === $found['ino'] && $this->status['dev'] === $found['dev'];
    }

    /** @param array<int|string, int> $status */
    public static function type(array $status): int
    {
        return $status['mode'] & 0170000;
    }

    /** @throws Failure unless it has this many bytes */
    public function checkSize(int $expected): void
    {
        $size = $this->status['size'];
        if ($size !== $expected) {
            throw Failure::data("$this->path: is " . ($size < $expected ? 'cut short' : 'too long') . ": $size bytes instead of $expected");
        }
    }

    /** @throws Failure unless all of them can be read */
    public function read(int $offset, int $length): string
    {
        if ($this->isBusy) {
            return $this->openAgain()->read($offset, $length);
        }
        // Without quietly(), which takes longer than the read.
        self::$warning = null;
        set_error_handler(self::$note ??= self::note(...));
        try {
            $this->isBusy = true;
            if (feof($this->stream)) {
                rewind($this->stream); // or it reads nothing there again, though the file has grown
            }
            $bytes = stream_get_contents($this->stream, $length, $offset);
        } finally {
            $this->isBusy = false;
            restore_error_handler();
        }
        // @phpstan-ignore notIdentical.alwaysFalse (the error handler sets it)
        if (self::$warning !== null) {
            throw new Failure("$this->path: " . self::$warning);
        }
        $isWhole = $bytes !== false && strlen($bytes) === $length;
        return $isWhole ? $bytes : throw Failure::data("$this->path: is cut short: it ends before byte " . $offset + $length);
    }

    /** @throws Failure */
    private function openAgain(): self
    {
        $file = self::open($this->path, self::statusOf($this->path));
        return $file->isAt($this->status) ? $file : throw new Failure("$this->path: was replaced");
    }

    /** @throws Failure */
    private static function opened(string $path): ?self
    {
        $stream = self::quietly(static fn () => fopen($path, self::MODE));
        if ($stream === false) {
            return null;
        }
        stream_set_read_buffer($stream, 0);
        $status = fstat($stream) ?: throw new Failure("$path: has no status");
        return self::type($status) === self::REGULAR ? new self($stream, $path, $status) : throw new Failure("$path: not a regular file");
    }

    /** Whether a path of which stat() says nothing leads to nothing: its folder has no such name, is a file, or leads to nothing itself. */
    private static function isNothing(string $path, int $mostSteps = 40): bool
    {
        $folder = dirname($path);
        if (is_dir($folder)) {
            $names = scandir($folder);
            return $names !== false && !in_array(basename($path), $names, true);
        }
        if (file_exists($folder)) {
            return true;
        }
        if (is_link($folder)) {
            $target = (string) readlink($folder);
            $folder = str_starts_with($target, '/') ? $target : dirname($folder) . "/$target";
        }
        return $mostSteps > 0 && self::isNothing($folder, $mostSteps - 1);
    }

    /**
     * A warning is kept as the reason, and no error handler of the application sees it.
     *
     * @template T
     * @param callable(): T $call
     * @return T
     */
    private static function quietly(callable $call): mixed
    {
        self::$warning = null;
        set_error_handler(self::$note ??= self::note(...));
        try {
            return $call();
        } finally {
            restore_error_handler();
        }
    }

    /** Keeps the first of two warnings, without what PHP says before the reason: open_basedir refuses before the system is asked. */
    private static function note(int $level, string $message, string $file): bool
    {
        if ($file !== __FILE__) {
            return false; // of a signal handler, or of a coroutine that runs during a read
        }
        self::$warning ??= (string) preg_replace('/\A.*?\): (?:Failed to open stream: )?/s', '', $message);
        return true;
    }
}
