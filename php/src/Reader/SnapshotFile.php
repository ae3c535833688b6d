<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** Follows a set that is a file SET.ks in a folder. Another file there takes its place within a second. Keys cannot be added to it. */
final class SnapshotFile
{
    private const IDENTITY = ['dev' => 0, 'ino' => 0, 'size' => 0, 'mtime' => 0, 'ctime' => 0];

    private readonly string $path;
    private ?Snapshot $snapshot = null;
    private ?Failure $trouble = null;
    private ?Failure $unavailable = null;
    private bool $isLooking = false; // what a signal handler or another coroutine asks meanwhile is answered as of the last look
    /** @var array<int|string, int> of the file that was tried last */
    private array $tried = [];

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
        $this->look($now);
        $this->unavailable = $this->snapshot === null ? $this->trouble : $this->snapshot->expiry($now);
        return true;
    }

    /** Why every answer is maybe; null: the set is Ready. */
    public function unavailable(): ?Failure
    {
        return $this->unavailable;
    }

    /** Why an older snapshot goes on answering; null: it does not. */
    public function trouble(): ?Failure
    {
        return $this->trouble;
    }

    /** What is attached, even if it is expired or bypassed. */
    public function snapshot(): ?Snapshot
    {
        return $this->snapshot;
    }

    private function look(int $now): void
    {
        try {
            $this->isLooking = true;
            $status = File::statusOf($this->path);
            $found = array_intersect_key($status ?? [], self::IDENTITY);
            if ($found === $this->tried && $found !== []) {
                return;
            }
            // Within a second it may be written again and look the same. A copy may bring an old mtime along, but no ctime.
            $this->tried = $now - max($found['mtime'] ?? 0, $found['ctime'] ?? 0) > 1 ? $found : [];
            $this->snapshot = new Snapshot($this->set, File::open($this->path, $status));
            $this->trouble = null;
        } catch (Failure $failure) {
            $this->trouble = $failure;
            $this->tried = $failure->isForGood ? $this->tried : []; // there may have been too many open files
        } finally {
            $this->isLooking = false;
        }
    }
}
