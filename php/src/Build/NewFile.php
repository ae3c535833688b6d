<?php

declare(strict_types=1);

namespace KeySieve\Build;

/** A file that comes into being whole: written under another name, synced, then renamed. */
final class NewFile
{
    /** @throws CannotWrite and leaves $path as it was */
    public static function replace(string $path, string $bytes): void
    {
        $prefix = dirname($path) . '/.' . basename($path) . '.';
        $temporary = $prefix . bin2hex(random_bytes(6)) . '.tmp';
        $folder = @fopen(dirname($path), 'r');
        try {
            if ($folder !== false && flock($folder, LOCK_EX)) { // so what is there was left by a process that was killed
                array_map(static fn (string $left) => @unlink($left), glob(addcslashes($prefix, '*?[]\\') . '*.tmp') ?: []);
            }
            self::create($temporary, $bytes);
            self::rename($temporary, $path);
        } catch (CannotWrite $failure) {
            @unlink($temporary);
            throw $failure;
        } finally {
            $folder === false || fclose($folder);
        }
    }

    /**
     * @param ?int $mode null: as the umask says
     * @throws CannotWrite for a file that is there too; what it has written may be left
     */
    public static function create(string $path, string $bytes, ?int $mode = null): void
    {
        $file = self::attempt($path, static fn () => fopen($path, 'xb'));
        try {
            if ($mode !== null) {
                self::attempt($path, static fn () => chmod($path, $mode));
            }
            self::attempt($path, static fn () => fwrite($file, $bytes) === strlen($bytes) && fflush($file) && fsync($file));
        } finally {
            fclose($file);
        }
    }

    /** @throws CannotWrite */
    public static function rename(string $from, string $to): void
    {
        self::attempt($to, static fn () => rename($from, $to));
    }

    /**
     * Keeps a warning as the reason, whatever the application does with warnings.
     *
     * @template T
     * @param callable(): (T|false) $call
     * @return T
     * @throws CannotWrite if it gives false
     */
    public static function attempt(string $path, callable $call): mixed
    {
        $reason = 'cannot be written';
        set_error_handler(static function (int $level, string $message) use (&$reason): bool {
            $reason = preg_replace('/\A.*?\): (?:Failed to open stream: )?/s', '', $message);
            return true;
        });
        try {
            $result = $call();
        } finally {
            restore_error_handler();
        }
        return $result === false ? throw new CannotWrite("$path: $reason") : $result;
    }
}
