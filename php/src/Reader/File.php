<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** An open file that is read without a buffer, because others write to it. */
final class File
{
    private const TYPE = 0170000;
    private const REGULAR = 0100000;
    private const MODE = 'rbn'; // n: opening a pipe, which may have just taken the place of a file, does not wait for its other end
    private const REFUSED = 'open_basedir restriction in effect';

    private static ?\Closure $note = null;
    private static ?string $warning = null;
    /** @var array<?string> why a file that is not there cannot be opened */
    private static array $missing = [];

    private bool $isBusy = false; // between a seek and a read, where a signal handler or another coroutine may want to read, too

    /** @param resource $stream */
    private function __construct(private $stream, private readonly string $path)
    {
    }

    /** @throws Failure */
    public static function open(string $path): self
    {
        $found = self::statusOf($path);
        self::checkIsRegular($path, $found);
        try {
            $file = self::opened($path);
        } catch (Failure $failure) {
            $file = $found === null ? throw $failure : null;
        }
        if ($file !== null && self::identityOf($file->status()) === self::identityOf($found)) {
            return $file;
        }
        // It was just replaced. Or PHP, which remembers for two minutes where links lead, has gone where one on the way led before.
        clearstatcache(true);
        return self::opened($path);
    }

    /**
     * The whole of a small file; null if there is none.
     *
     * @throws Failure if it is there but cannot be read
     */
    public static function contents(string $path): ?string
    {
        if (self::statusOf($path) === null) {
            return null;
        }
        $file = self::open($path);
        return $file->read(0, $file->size());
    }

    /**
     * What stat() says now, of a link what lstat() says if told so; null if there is nothing.
     *
     * @return ?array<int|string, int>
     * @throws Failure if it cannot be known, or is a link that leads nowhere
     */
    public static function statusOf(string $path, bool $ofLink = false): ?array
    {
        PHP_ZTS ? clearstatcache(true) : clearstatcache(true, $path); // with threads, PHP itself resolves links for stat()
        try {
            $status = self::quietly($path, static fn () => lstat($path));
        } catch (Failure) {
            clearstatcache(true, dirname($path)); // else fopen() takes it for a folder still, and has another reason
            $reason = self::whyNotOpened($path);
            if (self::isReasonOfMissing($reason)) {
                return null;
            }
            throw Failure::unreadable("$path: " . ($reason ?? 'has just appeared'));
        }
        if ($ofLink) {
            return $status;
        }
        try {
            return self::quietly($path, static fn () => stat($path));
        } catch (Failure) {
            throw Failure::unreadable("$path: " . (self::whyNotOpened($path) ?? 'has just appeared'));
        }
    }

    /** For messages. */
    public function name(): string
    {
        return $this->path;
    }

    /** @return array<int|string, int> as of fstat() */
    public function status(): array
    {
        return fstat($this->stream) ?: throw Failure::unreadable("$this->path: has no status");
    }

    public function size(): int
    {
        return $this->status()['size'];
    }

    /** @throws Failure unless all of them can be read */
    public function read(int $offset, int $length): string
    {
        if ($length === 0) {
            return '';
        }
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
            throw Failure::unreadable("$this->path: " . self::$warning);
        }
        $isWhole = $bytes !== false && strlen($bytes) === $length;
        return $isWhole ? $bytes : throw Failure::data("$this->path: is cut short: it ends before byte " . $offset + $length);
    }

    /** @throws Failure */
    private function openAgain(): self
    {
        $file = self::open($this->path);
        $isSame = self::identityOf($file->status()) === self::identityOf($this->status());
        return $isSame ? $file : throw Failure::unreadable("$this->path: was replaced");
    }

    /** @param ?array<int|string, int> $status */
    private static function checkIsRegular(string $path, ?array $status): void
    {
        if ($status !== null && ($status['mode'] & self::TYPE) !== self::REGULAR) {
            throw Failure::unreadable("$path: not a regular file");
        }
    }

    /** @throws Failure */
    private static function opened(string $path): self
    {
        $stream = self::quietly($path, static fn () => fopen($path, self::MODE));
        stream_set_read_buffer($stream, 0);
        self::checkIsRegular($path, fstat($stream) ?: null);
        return new self($stream, $path);
    }

    /**
     * @param ?array<int|string, int> $status
     * @return array{?int, ?int}
     */
    private static function identityOf(?array $status): array
    {
        return [$status['dev'] ?? null, $status['ino'] ?? null];
    }

    /**
     * lstat() gives no reason, and that of fopen() is a text in the language of the process: so it is compared with those of files
     * that cannot be there. They are next to this one, which open_basedir allows, unless it cannot be read.
     */
    private static function isReasonOfMissing(?string $reason): bool
    {
        if ($reason === null || $reason === self::REFUSED) {
            return false;
        }
        if (!in_array($reason, self::$missing, true)) { // the language may have changed
            $known = !str_contains(__FILE__, '://') && self::whyNotOpened(__FILE__) === null ? __FILE__ : '/dev/null';
            self::$missing = [self::whyNotOpened("$known.none"), self::whyNotOpened("$known/none")];
        }
        return in_array($reason, self::$missing, true);
    }

    private static function whyNotOpened(string $path): ?string
    {
        try {
            $stream = self::quietly('', static fn () => fopen($path, self::MODE));
            fclose($stream);
            return null;
        } catch (Failure $failure) {
            return substr($failure->getMessage(), strlen(': '));
        }
    }

    /**
     * A warning becomes a Failure with the system's reason, and no error handler of the application sees it.
     *
     * @template T
     * @param callable(): (T|false) $call
     * @return T
     */
    private static function quietly(string $path, callable $call): mixed
    {
        self::$warning = null;
        set_error_handler(self::$note ??= self::note(...));
        try {
            $result = $call();
        } finally {
            restore_error_handler();
        }
        return $result === false ? throw Failure::unreadable("$path: " . (self::$warning ?? 'cannot be read')) : $result;
    }

    /** The first of two warnings says why: open_basedir refuses before the system is asked. PHP shows it by its text alone. */
    private static function note(int $level, string $message, string $file): bool
    {
        if ($file !== __FILE__) {
            return false; // of a signal handler, or of a coroutine that runs during a read
        }
        self::$warning ??= str_contains($message, '(): ' . self::REFUSED) ? self::REFUSED : substr((string) strrchr(": $message", ':'), 2);
        return true;
    }
}
