<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;

/** A set in a dir: store, read without a loader. Pushes, adds, rollbacks and bypasses are followed within a second. */
final class StoreFolder implements Source, Publication
{
    private const MOST_RECORD_BYTES = 64 << 10; // of any store

    private readonly string $records;
    private readonly AddsLog $log;
    private ?self $answering = null; // a copy as of the last look, for calls during the next one
    private ?PointerRecord $pointer = null;
    private ?Snapshot $snapshot = null;
    /** @var array<int, true> by hash */
    private array $added = [];
    private ?Failure $trouble = null;
    private bool $isLooking = false; // what a signal handler or another coroutine asks meanwhile is answered as of the last look
    private bool $isBypassed = false;
    private Availability $availability = Availability::Missing;
    private int $attachedAt = 0;
    private int $confirmedAt = 0;

    public function __construct(
        private readonly string $folder,
        private readonly string $prefix,
        private readonly string $set,
        private readonly ?PublicKeys $keys,
    ) {
        $this->records = "$folder/$prefix:$set:";
        $this->log = new AddsLog("$folder/.log-$prefix:$set:adds");
    }

    public function follow(int $now, bool $looks): bool
    {
        if (!$looks || $this->isLooking) {
            return false;
        }
        $this->look($now);
        $this->availability = match (true) {
            $this->trouble !== null => $this->trouble->availability,
            $this->isBypassed => Availability::Bypassed,
            $this->snapshot?->header->isExpiredAt($now) === true => Availability::Expired,
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
        return match ($this->availability) {
            Availability::Bypassed => 'bypassed in the store',
            Availability::Expired => 'its snapshot is past valid_for',
            default => (string) $this->trouble?->getMessage(),
        };
    }

    public function hint(): string
    {
        return $this->snapshot === null ? UnknownName::amongFiles($this->folder, "$this->prefix:", $this->set, ':current') : '';
    }

    public function publication(): ?Publication
    {
        return $this->answering;
    }

    public function snapshot(): Snapshot
    {
        return $this->snapshot ?? throw new \LogicException('nothing is attached');
    }

    public function hasAdded(): bool
    {
        return $this->added !== [];
    }

    public function addedMayContain(int $hash): bool
    {
        return isset($this->added[$hash]);
    }

    public function facts(): array
    {
        return [
            'generation' => $this->pointer->generation ?? 0,
            'publication' => 0,
            'publishedAt' => $this->attachedAt,
            'lastConfirmedAt' => $this->confirmedAt,
            'addedKeys' => count($this->added),
        ];
    }

    /** What cannot be read may be newer than what is attached, so then every answer is maybe. */
    private function look(int $now): void
    {
        try {
            $this->isLooking = true;
            $this->isBypassed = $this->isBypassedAt($now);
            [$pointer, $snapshot] = $this->followPointer($now);
            foreach ($this->log->newKeys($pointer->addsFrom) as $key) {
                $this->added[$snapshot->header->hasher->hash($key)] = true;
            }
            self::checkTrimmed($pointer, $this->log->trimmedTo(), $this->log->path);
            $this->checkLost($pointer);
            $this->confirmedAt = $now;
            $this->trouble = null;
            $this->answering = null; // so that the copy has no copy
            $this->answering = clone $this;
        } catch (Failure $failure) {
            $this->trouble = $failure;
        } finally {
            $this->isLooking = false;
        }
    }

    /**
     * @return array{PointerRecord, Snapshot}
     * @throws Failure
     */
    private function followPointer(int $now): array
    {
        $path = "{$this->records}current";
        $text = File::contents($path, self::MOST_RECORD_BYTES);
        $pointer = $text === null ? null : PointerRecord::decode($text, $path);
        if ($pointer === null) {
            throw Failure::unreadable("dir:$this->folder: set \"$this->set\" was never pushed");
        }
        if ($this->pointer === null || $pointer->addsLog != $this->pointer->addsLog) {
            $this->log->rewind($pointer->addsLog);
        }
        if ($this->snapshot !== null && $pointer->pushId === $this->pointer?->pushId) {
            $this->pointer = $pointer;
            return [$pointer, $this->snapshot];
        }
        self::checkTrimmed($pointer, $pointer->addsTrimmedTo, $path);
        $chunks = new Chunks("$this->records$pointer->pushId:", $pointer->bytes, "dir:$this->folder: $this->set, generation $pointer->generation");
        $snapshot = Snapshot::of($this->set, $chunks, $this->keys, $this->snapshot);
        if (bin2hex($snapshot->header->buildId) !== $pointer->buildId) {
            throw Failure::data("$path: the snapshot is not the one that the pointer describes");
        }
        $this->log->rewind($pointer->addsLog);
        [$this->pointer, $this->snapshot, $this->attachedAt, $this->added] = [$pointer, $snapshot, $now, []];
        return [$pointer, $snapshot];
    }

    /**
     * The log itself may say more than the pointer: a folder may be copied file by file.
     *
     * @throws Failure
     */
    private static function checkTrimmed(PointerRecord $pointer, string $trimmedTo, string $path): void
    {
        if (strcmp($pointer->addsNeededFrom(), $trimmedTo) < 0) {
            throw Failure::data("$path: the adds log no longer has all keys that were added since generation $pointer->generation");
        }
    }

    /**
     * Keys that nobody can read any more must not become absent. What is found here is the least: a host that runs keysieved
     * remembers the log, too.
     *
     * @throws Failure
     */
    private function checkLost(PointerRecord $pointer): void
    {
        if (!$this->log->isWhole() || strcmp($pointer->addsNeededFrom(), $pointer->addsLog->lostTo) < 0) {
            throw Failure::data("{$this->log->path}: keys that were added since generation $pointer->generation are lost");
        }
    }

    /** @throws Failure */
    private function isBypassedAt(int $now): bool
    {
        foreach (["{$this->records}bypass", "$this->folder/$this->prefix:bypass"] as $path) {
            $text = File::contents($path, self::MOST_RECORD_BYTES);
            if ($text === null) {
                continue;
            }
            $bypass = json_decode($text, true);
            $until = is_array($bypass) ? $bypass['until'] ?? null : null;
            if (!is_int($until) || $until <= 0 || $until > $now) {
                return true; // a bypass without an end
            }
        }
        return false;
    }
}
