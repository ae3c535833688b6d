<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;

/** A set that is a file SET.ks in a folder. Another file there is followed within a second. Keys cannot be added to it. */
final class SnapshotFiles implements Source, Publication
{
    private const IDENTITY = ['dev' => 0, 'ino' => 0, 'size' => 0, 'mtime' => 0, 'ctime' => 0];

    private readonly string $path;
    private ?Snapshot $snapshot = null;
    private ?Failure $trouble = null;
    private bool $isLooking = false; // what a signal handler or another coroutine asks meanwhile is answered as of the last look
    private Availability $availability = Availability::Missing;
    /** @var array<int|string, int> of the file that was tried last */
    private array $tried = [];
    private int $attachedAt = 0;

    public function __construct(string $folder, private readonly string $set)
    {
        $this->path = "$folder/$set.ks";
    }

    public function follow(int $now, bool $looks): bool
    {
        if (!$looks || $this->isLooking) {
            return false;
        }
        $this->look($now);
        $this->availability = match (true) {
            $this->snapshot === null => $this->trouble->availability ?? Availability::Missing,
            $this->snapshot->header->isExpiredAt($now) => Availability::Expired,
            default => Availability::Ready,
        };
        return true;
    }

    public function availability(): Availability
    {
        return $this->availability;
    }

    public function reason(): string
    {
        return $this->availability === Availability::Expired ? 'its snapshot is past valid_for' : (string) $this->trouble?->getMessage();
    }

    public function publication(): ?Publication
    {
        return $this->snapshot === null ? null : $this;
    }

    public function snapshot(): Snapshot
    {
        return $this->snapshot ?? throw new \LogicException('nothing is attached');
    }

    public function hasAdded(): bool
    {
        return false;
    }

    public function addedMayContain(int $hash): bool
    {
        return false;
    }

    public function facts(): array
    {
        return ['generation' => 0, 'publication' => 0, 'publishedAt' => $this->attachedAt, 'lastConfirmedAt' => 0, 'addedKeys' => 0];
    }

    private function look(int $now): void
    {
        try {
            $this->isLooking = true;
            $found = array_intersect_key(File::statusOf($this->path) ?? [], self::IDENTITY);
            if ($found === $this->tried && $found !== []) {
                return;
            }
            // Within a second it may be written again and look the same. A copy may bring an old mtime along, but no ctime.
            $this->tried = $now - max($found['mtime'] ?? 0, $found['ctime'] ?? 0) > 1 ? $found : [];
            $this->snapshot = Snapshot::of($this->set, File::open($this->path));
            $this->attachedAt = $now;
            $this->trouble = null;
        } catch (Failure $failure) {
            $this->trouble = $failure;
            $this->tried = $failure->isForGood ? $this->tried : []; // there may have been too many open files
        } finally {
            $this->isLooking = false;
        }
    }
}
