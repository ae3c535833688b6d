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
    private const PUBLICATION = (1 << 60) - 1; // of `current`: a number, and above it what bypasses the set
    private const ADDS_LOST = 1 << 60;
    private const DAMAGED = 1 << 61;
    private const BYPASSED_IN_STORE = 1 << 62;
    private const BYPASSED = PHP_INT_MIN; // bit 63

    private const PAGE_BYTES = 4096; // of a control page; a snapshot's header and a live page have as many
    private const ABI_MAJOR = 2;
    private const INSTANCE = 16;
    private const CURRENT = 64;
    private const BYPASS_END = 128;
    private const LAST_CONFIRMED = 192;
    private const STORE_BYPASS_END = 320;

    public ?Snapshot $snapshot = null;
    /** @var array{?string, string} as SnapshotFile::$why */
    public array $why = ['missing', 'it is just being opened'];
    private readonly string $folder;
    private ?File $control = null;
    // What seenIn() gave at the last look; '' if the page could not be used. While it stays the same, nothing is done before the next look.
    private ?string $seen = null;
    /** @var ?array{File, int, Failure} a control page, and the publication there that can never be attached, and why */
    private ?array $refused = null;

    public function __construct(string $directory, private readonly string $set)
    {
        $this->folder = "$directory/$set";
    }

    /** As SnapshotFile::follow(). */
    public function follow(int $now, bool $looks): bool
    {
        [$control, $snapshot] = $before = [$this->control, $this->snapshot, $this->seen === ''];
        if (!$looks && $this->seen === '') {
            return false;
        }
        try {
            if ($looks || $control === null) {
                [$control, $snapshot, $owner] = $this->followControl($control, $snapshot);
            }
            $seen = self::seenIn($control);
            if (!$looks && $seen === $this->seen) {
                return false;
            }
            [$snapshot, $seen, $trouble] = $this->followCurrent($control, $snapshot, $seen, $owner ?? null);
            $why = match (true) {
                $trouble !== null && ($snapshot === null || self::number($seen) !== 0) => $trouble->why(),
                ($bits = self::bypassesInForce($seen, $now)) !== 0 => self::bypass($bits),
                $snapshot !== null && $now >= $snapshot->validUntil => Snapshot::EXPIRED,
                default => [null, (string) $trouble?->getMessage()],
            };
        } catch (Failure $failure) {
            [$seen, $why] = ['', $failure->why()];
        }
        if ([$this->control, $this->snapshot, $this->seen === ''] !== $before) {
            return $this->follow($now, $looks); // a signal handler or another coroutine has followed while this one has read
        }
        [$this->control, $this->snapshot, $this->seen, $this->why] = [$control, $snapshot, $seen, $why];
        return true;
    }

    /** When the loader last confirmed that the store has nothing newer, in Unix seconds; 0: never, or it cannot be read. */
    public function lastConfirmedAt(): int
    {
        try {
            return $this->control === null ? 0 : Kind::word($this->control->read(self::LAST_CONFIRMED, 8), 0);
        } catch (Failure) {
            return 0; // which says nothing of the snapshot
        }
    }

    /**
     * Opens the page that the path leads to now. If there is none any more, nothing can be published: what is open goes on answering.
     *
     * @return array{File, ?Snapshot, ?int} also the owner of the folder, if that was looked at
     * @throws Failure
     */
    private function followControl(?File $control, ?Snapshot $snapshot): array
    {
        if ($control === null) {
            $owner = $this->trustedFolder();
            return [$this->openedControl($owner), $snapshot, $owner];
        }
        $status = File::statusOf("$this->folder/control");
        if ($status === null || $control->isAt($status)) {
            return [$control, $snapshot, null];
        }
        $wanted = self::number(self::seenIn($control));
        $wasBehind = $wanted !== 0 && !self::isOf($snapshot, $control, $wanted);
        $owner = $this->trustedFolder();
        $opened = $this->openedControl($owner);
        // The page before has named a newer one, or this is a copy: the same numbers but other files.
        return [$opened, $wasBehind || $snapshot?->live?->instance === self::instance($opened) ? null : $snapshot, $owner];
    }

    /**
     * Attaches what is current. Its files may be gone again if a newer one has become current meanwhile.
     *
     * @return array{?Snapshot, string, ?Failure} what is attached, what was seen then, and why it is not that
     * @throws Failure
     */
    private function followCurrent(File $control, ?Snapshot $snapshot, string $seen, ?int $owner): array
    {
        for ($tries = 1;; ++$tries) {
            $wanted = self::number($seen);
            if ($wanted === 0) {
                return [$snapshot, $seen, new Failure('nothing is published yet')];
            }
            if (self::isOf($snapshot, $control, $wanted)) {
                return [$snapshot, $seen, null];
            }
            if ($this->refused !== null && $this->refused[0] === $control && $this->refused[1] === $wanted) {
                return [$snapshot, $seen, $this->refused[2]];
            }
            try {
                return [$this->attach($control, $wanted, $owner ?? $this->trustedFolder()), $seen, null];
            } catch (Failure $trouble) {
                $this->refused = $trouble->isForGood ? [$control, $wanted, $trouble] : $this->refused;
                $now = self::seenIn($control);
                if (self::number($now) === $wanted || $tries === 3) {
                    return [$snapshot, $seen, $trouble];
                }
                $seen = $now;
            }
        }
    }

    /** @throws Failure */
    private function attach(File $control, int $number, int $owner): Snapshot
    {
        $name = sprintf('%016x', $number);
        $file = $this->open("$name.ks", $owner);
        $live = new LiveLayer($this->open("$name.live", $owner), self::instance($control), $number);
        $snapshot = new Snapshot($this->set, $file, $live);
        return $live->seed === $snapshot->fields['seed'] ? $snapshot
            : throw Failure::data("$this->folder/$name.live: live page has another seed than its snapshot");
    }

    private static function isOf(?Snapshot $snapshot, File $control, int $number): bool
    {
        $live = $snapshot?->live;
        return $live !== null && $live->publication === $number && $live->instance === self::instance($control);
    }

    /** @throws Failure */
    private function openedControl(int $owner): File
    {
        $file = $this->open('control', $owner);
        if ($file->status['size'] !== self::PAGE_BYTES) {
            throw Failure::data("$file->path: has {$file->status['size']} bytes, a control page has 4096");
        }
        $header = $file->read(0, 32);
        /** @var array{magic: string, mark: int, major: int} $fields */
        $fields = unpack('a8magic/Vmark/vmajor', $header);
        $failure = match (true) {
            $fields['magic'] !== 'KSCONTRL' => Failure::data("$file->path: is not a keysieve control page"),
            $fields['mark'] !== 0x01020304 || $fields['major'] !== self::ABI_MAJOR => Failure::incompatible(
                "$file->path: control page of ABI {$fields['major']}, this version knows " . self::ABI_MAJOR . ': damaged, or written by another version',
            ),
            strrev(substr($header, 24)) !== hash('xxh3', substr($header, 0, 24), true)
                => Failure::data("$file->path: control page is damaged: its checksum does not match"),
            default => null,
        };
        return $failure === null ? $file : throw $failure;
    }

    /** @throws Failure */
    private static function instance(File $control): int
    {
        return Kind::word($control->read(self::INSTANCE, 8), 0);
    }

    /** @throws Failure unless it can read `current` and, if that names a bypass, the ends of both */
    private static function seenIn(File $control): string
    {
        $current = $control->read(self::CURRENT, 8);
        return $current[7] < "\x10" ? $current : $current . $control->read(self::BYPASS_END, 8) . $control->read(self::STORE_BYPASS_END, 8);
    }

    private static function number(string $seen): int
    {
        return Kind::word($seen, 0) & self::PUBLICATION;
    }

    /** Those bits that hold now: the ends of the two bypasses may have passed. */
    private static function bypassesInForce(string $seen, int $now): int
    {
        $bits = Kind::word($seen, 0) & ~self::PUBLICATION;
        foreach ($bits === 0 ? [] : [self::BYPASSED => 8, self::BYPASSED_IN_STORE => 16] as $bit => $at) {
            $until = Kind::word($seen, $at);
            $bits &= $until !== 0 && $until <= $now ? ~$bit : -1;
        }
        return $bits;
    }

    /** @return array{string, string} */
    private static function bypass(int $bits): array
    {
        return ['bypassed', match (true) {
            ($bits & self::DAMAGED) !== 0 => 'its bytes have changed since they were published',
            ($bits & self::ADDS_LOST) !== 0 => 'the store has lost keys that were added to it',
            $bits === self::BYPASSED => 'bypassed by an operator of this host',
            $bits === self::BYPASSED_IN_STORE => 'bypassed in the store',
            default => 'bypassed by an operator of this host, and in the store',
        }];
    }

    /**
     * @return int the folder's owner
     * @throws Failure
     */
    private function trustedFolder(): int
    {
        $status = File::statusOf($this->folder, ofLink: true);
        if ($status === null) {
            $directory = dirname($this->folder); // the set is missing, or all of it
            $found = File::statusOf($directory);
            throw new Failure(match (true) {
                $found === null => "directory $directory: No such file or directory",
                File::type($found) !== File::DIRECTORY => "directory $directory: Not a directory",
                default => "$this->folder: No such file or directory",
            });
        }
        $isFolder = File::type($status) === File::DIRECTORY;
        if (!$isFolder || !is_readable($this->folder)) { // the extension opens it
            throw new Failure("$this->folder: " . ($isFolder ? 'Permission denied' : 'Not a directory'));
        }
        $ownUid = function_exists('posix_geteuid') ? posix_geteuid() : null;
        $isOfTrusted = in_array($status['uid'], [0, $ownUid], true) || $status['uid'] === Settings::trustedOwner();
        self::checkTrust($this->folder, $status, $isOfTrusted ? null
            : "it belongs to uid {$status['uid']}, which is neither root nor this process's user nor the configured owner"
                . ($ownUid === null ? ', and without the extension posix this process does not know its user' : ''));
        return $status['uid'];
    }

    /** @throws Failure */
    private function open(string $name, int $owner): File
    {
        $path = "$this->folder/$name";
        $found = File::statusOf($path, ofLink: true);
        $type = $found === null ? File::REGULAR : File::type($found);
        if ($type !== File::REGULAR) {
            throw new Failure("$path: " . ($type === File::LINK ? 'Too many levels of symbolic links' : 'not trusted: not a regular file'));
        }
        $file = File::open($path, $found);
        $uid = $file->status['uid'];
        self::checkTrust($path, $file->status, $uid === $owner ? null : "it belongs to uid $uid, the folder to uid $owner");
        return $file->status['size'] >= self::PAGE_BYTES ? $file : throw Failure::data("$path: is cut short: {$file->status['size']} bytes");
    }

    /**
     * @param array<int|string, int> $status
     * @param ?string $faultOfOwner why the owner is not the right one; null: it is
     * @throws Failure
     */
    private static function checkTrust(string $path, array $status, ?string $faultOfOwner): void
    {
        $fault = $faultOfOwner ?? (($status['mode'] & 0022) !== 0 ? 'its group or others may write to it' : null);
        if ($fault !== null && PHP_OS_FAMILY !== 'Windows') {
            throw new Failure("$path: not trusted: $fault");
        }
    }
}
