<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** A set's folder in the directory where the loader publishes, if it can be trusted. PHP shows no owners of Windows. */
final class Folder
{
    private const WRITABLE_BY_OTHERS = 0022;
    private const DIRECTORY = 04; // the upper bits of a mode
    private const REGULAR = 010;
    private const LINK = 012;

    private readonly int $owner;

    /**
     * @param ?int $trustedOwner a uid, besides root and this process's own
     * @throws Failure
     */
    public function __construct(private readonly string $path, private readonly ?int $trustedOwner)
    {
        $status = File::statusOf($path, ofLink: true);
        if ($status === null || $status['mode'] >> 12 !== self::DIRECTORY) {
            throw Failure::unreadable($status === null ? self::whyMissing($path) : "$path: Not a directory");
        }
        if (!is_readable($path)) {
            throw Failure::unreadable("$path: Permission denied"); // as the extension, which opens it
        }
        $this->owner = $status['uid'];
        if (!self::hasOwners()) {
            return;
        }
        if (!in_array($this->owner, [0, self::ownUid(), $trustedOwner], true)) {
            $hint = self::ownUid() === null ? ', and without the extension posix this process does not know its user' : '';
            throw Failure::unreadable("$path: not trusted: it belongs to uid $this->owner, which is neither root nor this process's user "
                . "nor the configured owner$hint");
        }
        if (($status['mode'] & self::WRITABLE_BY_OTHERS) !== 0) {
            throw Failure::unreadable("$path: not trusted: its group or others may write to it");
        }
    }

    /** @throws Failure */
    public function open(string $name): File
    {
        $path = "$this->path/$name";
        $type = (File::statusOf($path, ofLink: true)['mode'] ?? self::REGULAR << 12) >> 12;
        if ($type !== self::REGULAR) {
            $fault = $type === self::LINK ? 'Too many levels of symbolic links' : 'not trusted: not a regular file';
            throw Failure::unreadable("$path: $fault");
        }
        $file = File::open($path);
        $status = $file->status();
        $fault = match (true) {
            !self::hasOwners() => null,
            $status['uid'] !== $this->owner => "it belongs to uid {$status['uid']}, the folder to uid $this->owner",
            ($status['mode'] & self::WRITABLE_BY_OTHERS) !== 0 => 'its group or others may write to it',
            default => null,
        };
        return $fault === null ? $file : throw Failure::unreadable("$path: not trusted: $fault");
    }

    /** A set that is missing, or the whole directory. */
    private static function whyMissing(string $path): string
    {
        $directory = dirname($path);
        $status = File::statusOf($directory);
        return match (true) {
            $status === null => "directory $directory: No such file or directory",
            $status['mode'] >> 12 !== self::DIRECTORY => "directory $directory: Not a directory",
            default => "$path: No such file or directory",
        };
    }

    private static function hasOwners(): bool
    {
        return PHP_OS_FAMILY !== 'Windows';
    }

    /** Null: there is no function that says it. */
    private static function ownUid(): ?int
    {
        return function_exists('posix_geteuid') ? posix_geteuid() : null;
    }
}
