<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * Follows a set in the directory where a loader publishes, if its folder and files can be trusted. It answers by the same rules as the
 * extension (docs/concurrency.md, which has the fields of the control page too): from the current publication alone. PHP shows no owners
 * of Windows.
 */
final class PublishedSet
{
    private const ADDS_LOST = 1 << 60;
    private const DAMAGED = 1 << 61;
    private const BYPASSED_IN_STORE = 1 << 62;
    private const BYPASSED = PHP_INT_MIN; // bit 63

    private const CONTROL_BYTES = 4096;
    private const ABI_MAJOR = 2;
    private const CURRENT = 64;
    private const ENDS = [self::BYPASSED => 128, self::BYPASSED_IN_STORE => 320];

    private const WRITABLE_BY_OTHERS = 0022;
    private const DIRECTORY = 04; // the upper bits of a mode
    private const REGULAR = 010;
    private const LINK = 012;

    private readonly string $folder;
    private ?File $control = null;
    private int $instance = 0; // which the control page names
    private ?Published $published = null;
    private ?int $failed = null; // a publication that could not be attached, because of $trouble
    private ?Failure $controlTrouble = null;
    private ?Failure $trouble = null;
    private ?Failure $unavailable = null;
    private ?int $settledWord = null; // nothing changes between two looks as long as the control page has this word

    /** @param ?int $trustedOwner a uid, besides root and this process's own */
    public function __construct(string $directory, private readonly string $set, private readonly ?int $trustedOwner)
    {
        $this->folder = "$directory/$set";
    }

    /** As SnapshotFile::follow(). */
    public function follow(int $now, bool $looks): bool
    {
        [$control, $instance, $published, $controlTrouble] = [$this->control, $this->instance, $this->published, $this->controlTrouble];
        $before = $this->known();
        if ($looks || $control === null) {
            [$control, $instance, $published, $controlTrouble] = $this->followControl($control, $instance, $published);
        }
        try {
            $current = $control === null ? 0 : self::number($control, self::CURRENT);
            if (!$looks && $current === $this->settledWord) {
                return false;
            }
            $isBehind = false;
            if ($control !== null && $controlTrouble === null) {
                [$published, $isBehind] = $this->followCurrent($control, $instance, $published, self::publicationOf($current), $looks);
                $current = self::number($control, self::CURRENT); // it may have moved on meanwhile
            }
            $bypassedBy = $control === null ? 0 : self::bypassesInForce($control, $current, $now);
        } catch (Failure $failure) {
            [$current, $isBehind, $bypassedBy, $controlTrouble] = [null, false, 0, $failure];
        }
        if ($this->known() !== $before) {
            return $this->follow($now, $looks);
        }
        [$this->control, $this->instance, $this->published, $this->controlTrouble] = [$control, $instance, $published, $controlTrouble];
        if ($published !== null && $control !== null) {
            $published->control = $control;
        }
        $this->settledWord = $published?->number === $current && !$isBehind ? $current : null;
        $this->unavailable = match (true) {
            $controlTrouble !== null => $controlTrouble,
            $published === null || $isBehind => $this->trouble ?? Failure::unreadable('nothing is published yet'),
            $bypassedBy !== 0 => self::bypass($bypassedBy),
            default => $published->expiry($now),
        };
        return true;
    }

    /** @return list<mixed> what a signal handler or another coroutine that follows may change while this one reads */
    private function known(): array
    {
        return [$this->control, $this->published, $this->controlTrouble === null];
    }

    public function unavailable(): ?Failure
    {
        return $this->unavailable;
    }

    public function trouble(): ?Failure
    {
        return $this->trouble;
    }

    public function snapshot(): ?Snapshot
    {
        return $this->published;
    }

    /**
     * Opens the page that the path leads to now. If there is none any more, nothing can be published: what is open goes on answering.
     *
     * @return array{?File, int, ?Published, ?Failure}
     */
    private function followControl(?File $control, int $instance, ?Published $published): array
    {
        try {
            $status = $control === null ? null : File::statusOf("$this->folder/control");
            if ($control === null || ($status !== null && !File::isSame($status, $control->status))) {
                $wasBehind = $control !== null && $published !== null
                    && self::isBehind($instance, $published, self::publicationOf(self::number($control, self::CURRENT)));
                [$control, $instance] = self::openedControl($this->open('control', $this->trustedFolder()));
                if ($wasBehind || $published?->instance === $instance) {
                    $published = null; // the page before has named a newer one, or this is a copy: the same numbers but other files
                }
                $this->failed = $this->trouble = null;
            }
            return [$control, $instance, $published, null];
        } catch (Failure $failure) {
            return [$control, $instance, $published, $failure];
        }
    }

    /**
     * @return array{?Published, bool} what answers from now on, and whether it is behind
     * @throws Failure
     */
    private function followCurrent(File $control, int $instance, ?Published $published, int $wanted, bool $looks): array
    {
        if ($published !== null && $published->number === $wanted && $published->instance === $instance) {
            return [$published, false];
        }
        if ($wanted === 0) {
            $this->trouble = Failure::unreadable('nothing is published yet');
            return [$published, false];
        }
        $mayAttach = $wanted !== $this->failed || ($looks && $this->trouble?->isForGood !== true);
        $attached = $mayAttach ? $this->attach($control, $instance, $wanted) : null;
        return [$attached ?? $published, $attached === null];
    }

    private static function isBehind(int $instance, Published $published, int $current): bool
    {
        return $current !== 0 && ($published->number !== $current || $published->instance !== $instance);
    }

    /** Its files may be gone again if a newer one has become current meanwhile. */
    private function attach(File $control, int $instance, int $wanted): ?Published
    {
        for ($tries = 1;; ++$tries) {
            try {
                $owner = $this->trustedFolder();
                $snapshot = $this->open(sprintf('%016x.ks', $wanted), $owner);
                if ($snapshot->status['size'] < Snapshot::HEADER_BYTES) {
                    throw Failure::data("$snapshot->path: is cut short: {$snapshot->status['size']} bytes");
                }
                $published = new Published($this->set, $snapshot, $this->open(sprintf('%016x.live', $wanted), $owner), $control, $instance, $wanted);
                $this->failed = $this->trouble = null;
                return $published;
            } catch (Failure $failure) {
                $now = self::publicationOf(self::number($control, self::CURRENT));
                if ($now !== $wanted && $tries < 3) {
                    $wanted = $now;
                    continue;
                }
                $this->trouble = $failure;
                $this->failed = $wanted;
                return null;
            }
        }
    }

    /**
     * @return array{File, int} with the page's instance
     * @throws Failure
     */
    private static function openedControl(File $file): array
    {
        if (($bytes = $file->status['size']) !== self::CONTROL_BYTES) {
            throw Failure::data("$file->path: " . ($bytes < self::CONTROL_BYTES ? "is cut short: $bytes bytes" : "has $bytes bytes, a control page has 4096"));
        }
        $header = $file->read(0, 32);
        /** @var array{magic: string, mark: int, major: int, minor: int, instance: int} $fields */
        $fields = unpack('a8magic/Vmark/vmajor/vminor/Pinstance', $header);
        if ($fields['magic'] !== 'KSCONTRL') {
            throw Failure::data("$file->path: is not a keysieve control page");
        }
        if ($fields['mark'] !== 0x01020304 || $fields['major'] !== self::ABI_MAJOR) {
            throw Failure::incompatible("$file->path: control page of ABI {$fields['major']}, this version knows " . self::ABI_MAJOR
                . ': damaged, or written by another version');
        }
        if (strrev(substr($header, 24)) !== hash('xxh3', substr($header, 0, 24), true)) {
            throw Failure::data("$file->path: control page is damaged: its checksum does not match");
        }
        return [$file, $fields['instance']];
    }

    /** @throws Failure */
    private static function number(File $control, int $at): int
    {
        return Kind::word($control->read($at, 8), 0);
    }

    private static function publicationOf(int $current): int
    {
        return $current & self::ADDS_LOST - 1;
    }

    /** Those bits of $current that hold now: the ends of the two bypasses may have passed. */
    private static function bypassesInForce(File $control, int $current, int $now): int
    {
        $bits = $current & (self::ADDS_LOST | self::DAMAGED | self::BYPASSED_IN_STORE | self::BYPASSED);
        foreach ($bits === 0 ? [] : self::ENDS as $bit => $end) {
            if (($bits & $bit) !== 0) {
                $until = self::number($control, $end);
                $bits &= $until !== 0 && $until <= $now ? ~$bit : -1;
            }
        }
        return $bits;
    }

    private static function bypass(int $bits): Failure
    {
        return Failure::bypassed(match (true) {
            ($bits & self::DAMAGED) !== 0 => 'its bytes have changed since they were published',
            ($bits & self::ADDS_LOST) !== 0 => 'the store has lost keys that were added to it',
            $bits === self::BYPASSED => 'bypassed by an operator of this host',
            $bits === self::BYPASSED_IN_STORE => 'bypassed in the store',
            default => 'bypassed by an operator of this host, and in the store',
        });
    }

    /**
     * @return int the folder's owner
     * @throws Failure
     */
    private function trustedFolder(): int
    {
        $status = File::statusOf($this->folder, ofLink: true);
        if ($status === null) {
            throw Failure::unreadable($this->whyMissing());
        }
        if ($status['mode'] >> 12 !== self::DIRECTORY || !is_readable($this->folder)) { // the extension opens it
            throw Failure::unreadable("$this->folder: " . ($status['mode'] >> 12 === self::DIRECTORY ? 'Permission denied' : 'Not a directory'));
        }
        $ownUid = function_exists('posix_geteuid') ? posix_geteuid() : null;
        $isOfTrusted = in_array($status['uid'], [0, $ownUid, $this->trustedOwner], true);
        $fault = match (true) {
            PHP_OS_FAMILY === 'Windows' => null,
            !$isOfTrusted
                => "it belongs to uid {$status['uid']}, which is neither root nor this process's user nor the configured owner"
                    . ($ownUid === null ? ', and without the extension posix this process does not know its user' : ''),
            ($status['mode'] & self::WRITABLE_BY_OTHERS) !== 0 => 'its group or others may write to it',
            default => null,
        };
        return $fault === null ? $status['uid'] : throw Failure::unreadable("$this->folder: not trusted: $fault");
    }

    /** @throws Failure */
    private function open(string $name, int $owner): File
    {
        $path = "$this->folder/$name";
        $found = File::statusOf($path, ofLink: true);
        $type = ($found['mode'] ?? self::REGULAR << 12) >> 12;
        if ($type !== self::REGULAR) {
            throw Failure::unreadable("$path: " . ($type === self::LINK ? 'Too many levels of symbolic links' : 'not trusted: not a regular file'));
        }
        $file = File::open($path, $found);
        $fault = match (true) {
            PHP_OS_FAMILY === 'Windows' => null,
            $file->status['uid'] !== $owner => "it belongs to uid {$file->status['uid']}, the folder to uid $owner",
            ($file->status['mode'] & self::WRITABLE_BY_OTHERS) !== 0 => 'its group or others may write to it',
            default => null,
        };
        return $fault === null ? $file : throw Failure::unreadable("$path: not trusted: $fault");
    }

    /** A set that is missing, or the whole directory. */
    private function whyMissing(): string
    {
        $directory = dirname($this->folder);
        $status = File::statusOf($directory);
        return match (true) {
            $status === null => "directory $directory: No such file or directory",
            $status['mode'] >> 12 !== self::DIRECTORY => "directory $directory: Not a directory",
            default => "$this->folder: No such file or directory",
        };
    }
}
