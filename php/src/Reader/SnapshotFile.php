<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** Follows a set that is a file SET.ks in a folder. Another file there takes its place within a second. Keys cannot be added to it. */
final class SnapshotFile
{
    private const IDENTITY = ['dev' => 0, 'ino' => 0, 'size' => 0, 'mtime' => 0, 'ctime' => 0];

    /** What is attached, even if it is expired or bypassed. */
    public ?Snapshot $snapshot = null;
    /** @var array{?string, string} the value of an Availability, null: Ready; and its reason, or why an older snapshot answers, or '' */
    public array $why = ['missing', 'it is just being opened'];
    private readonly string $path;
    private bool $isLooking = false; // what a signal handler or another coroutine asks meanwhile is answered as of the last look
    private ?Failure $trouble = null; // of the last look
    /** @var array<int|string, int> of the file that the last look found, if to open it again would be no use */
    private array $settled = [];

    public function __construct(string $folder, private readonly string $set)
    {
        $this->path = "$folder/$set.ks";
    }

    /**
     * Finds out what answers now. Cheap if nothing has changed. Never throws.
     *
     * @param bool $looks whether to look for what costs more to see; true at least once per second
     * @return bool whether anything may have changed
     */
    public function follow(int $now, bool $looks): bool
    {
        if (!$looks || $this->isLooking) {
            return false;
        }
        try {
            $this->isLooking = true;
            $this->look($now);
        } catch (Failure $trouble) {
            $this->trouble = $trouble;
            $this->settled = $trouble->isForGood ? $this->settled : [];
        } finally {
            $this->isLooking = false;
        }
        $this->why = match (true) {
            $this->snapshot === null => $this->trouble?->why() ?? $this->why,
            $now >= $this->snapshot->validUntil => Snapshot::EXPIRED,
            default => [null, (string) $this->trouble?->getMessage()],
        };
        return true;
    }

    /** @throws Failure */
    private function look(int $now): void
    {
        $status = File::statusOf($this->path);
        $found = array_intersect_key($status ?? [], self::IDENTITY);
        if ($found === $this->settled && $found !== []) {
            return;
        }
        // Within a second it may be written again and look the same. A copy may bring an old mtime along, but no ctime.
        $this->settled = $now - max($found['mtime'] ?? 0, $found['ctime'] ?? 0) > 1 ? $found : [];
        $this->snapshot = new Snapshot($this->set, File::open($this->path, $status));
        $this->trouble = null;
    }
}
