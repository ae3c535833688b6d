<?php

declare(strict_types=1);

namespace KeySieve\Build;

/** A file that comes into being whole: written under another name, synced, then renamed. */
final class NewFile
{
    /** @throws CannotWrite; then $path is as it was */
    public static function replace(string $path, string $bytes): void
    {
        $temporary = dirname($path) . '/.' . basename($path) . '.' . bin2hex(random_bytes(6)) . '.tmp';
        try {
            self::create($temporary, $bytes);
            self::rename($temporary, $path);
        } catch (CannotWrite $failure) {
            @unlink($temporary);
            throw $failure;
        }
    }

    /**
     * @param ?int $mode null: as the umask says
     * @throws CannotWrite, for a file that is there too; what it has written may be left
     */
    public static function create(string $path, string $bytes, ?int $mode = null): void
    {
        $file = @fopen($path, 'xb');
        if ($file === false) {
            throw self::failure($path);
        }
        $isWritten = ($mode === null || @chmod($path, $mode)) && @fwrite($file, $bytes) === strlen($bytes) && @fflush($file) && @fsync($file);
        $failure = self::failure($path);
        fclose($file);
        if (!$isWritten) {
            throw $failure;
        }
    }

    /** @throws CannotWrite */
    public static function rename(string $from, string $to): void
    {
        if (!@rename($from, $to)) {
            throw self::failure($to);
        }
    }

    /** Why the last call on a file has failed. */
    public static function failure(string $path): CannotWrite
    {
        $reason = preg_replace('/^.*?\): |^.*: (?=[A-Z])/s', '', error_get_last()['message'] ?? 'cannot be written');
        return new CannotWrite("$path: $reason");
    }
}
