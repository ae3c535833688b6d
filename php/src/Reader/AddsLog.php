<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** The adds log of a set in a dir: store, a file of frames that others append to. tools/stores/log_file.hpp has the format. */
final class AddsLog
{
    private const HEADER_BYTES = 32;
    private const ENTRY_BYTES = 20;
    private const NO_KEY = 0xffffffff;
    private const BEFORE_ALL = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    private ?File $file = null;
    private int $offset = 0; // everything before it has been read
    private int $lastAt = 0;
    private string $last = ''; // header of the last frame that was read: its writer may take it back if its disk fails
    private string $trimmedTo = self::BEFORE_ALL;

    public function __construct(public readonly string $path)
    {
    }

    /** The position up to which keys were removed, as of the last read. */
    public function trimmedTo(): string
    {
        return $this->trimmedTo;
    }

    /** Makes the next read begin at the first entry. */
    public function rewind(): void
    {
        $this->offset = 0;
    }

    /**
     * The keys behind the position that were not read yet; some may come again. If another file took the place of the one before,
     * all of its keys come.
     *
     * @return iterable<string>
     * @throws Failure if the file is damaged or cannot be read
     */
    public function newKeys(string $after): iterable
    {
        $status = File::statusOf($this->path);
        if ($status === null) {
            File::statusOf(dirname($this->path)) ?? throw Failure::unreadable(dirname($this->path) . ': No such file or directory');
            return;
        }
        $open = $this->file?->status();
        $isKnown = $open !== null && [$open['dev'], $open['ino']] === [$status['dev'], $status['ino']];
        if (!$isKnown || $status['size'] < $this->offset || !$this->isLastThere()) {
            $this->file = File::open($this->path);
            $this->offset = 0;
        }
        $begin = $this->offset;
        try {
            yield from $this->keysFromHere($after);
        } catch (Failure $failure) {
            if ($begin === 0) {
                throw $failure;
            }
            // A writer whose disk has failed may have replaced what was read before.
            $this->offset = 0;
            yield from $this->keysFromHere($after);
        }
    }

    /** @return iterable<string> */
    private function keysFromHere(string $after): iterable
    {
        if ($this->offset === 0) {
            $this->trimmedTo = self::BEFORE_ALL;
        }
        while (($payload = $this->nextPayload($header)) !== null) {
            yield from $this->keysOf($payload, unpack('V', $header, 8)[1], $after);
            [$this->lastAt, $this->last] = [$this->offset, $header];
            $this->offset += self::HEADER_BYTES + strlen($payload);
        }
    }

    private function isLastThere(): bool
    {
        return $this->offset === 0 || $this->file->readUpTo($this->lastAt, self::HEADER_BYTES) === $this->last;
    }

    /** Null if there is no whole frame: a writer may be at work, or may have been killed. */
    private function nextPayload(?string &$header): ?string
    {
        $header = $this->file->readUpTo($this->offset, self::HEADER_BYTES);
        if (strlen($header) < self::HEADER_BYTES) {
            return null;
        }
        if (trim($header, "\0") === '') {
            return $this->isZeroFrom($this->offset) ? null : throw $this->damaged();
        }
        $fields = unpack('a8magic/x4/Vbytes', $header);
        if ($fields['magic'] !== 'KEYSLOG1' || strrev(hash('xxh3', substr($header, 0, 24), true)) !== substr($header, 24)) {
            throw $this->damaged();
        }
        $payload = $this->file->readUpTo($this->offset + self::HEADER_BYTES, $fields['bytes']);
        if (strlen($payload) < $fields['bytes']) {
            return null;
        }
        if (strrev(hash('xxh3', $payload, true)) !== substr($header, 16, 8)) {
            throw $this->damaged();
        }
        return $payload;
    }

    /** After a crash a file may end with zeros. */
    private function isZeroFrom(int $offset): bool
    {
        while (($piece = $this->file->readUpTo($offset, 1 << 16)) !== '') {
            if (trim($piece, "\0") !== '') {
                return false;
            }
            $offset += strlen($piece);
        }
        return true;
    }

    /** @return iterable<string> */
    private function keysOf(string $payload, int $count, string $after): iterable
    {
        for ($at = 0; $count > 0; --$count) {
            if (strlen($payload) < $at + self::ENTRY_BYTES) {
                throw $this->damaged();
            }
            $position = substr($payload, $at, 16);
            $length = unpack('V', $payload, $at + 16)[1];
            $at += self::ENTRY_BYTES;
            if ($length === self::NO_KEY) {
                $this->trimmedTo = $this->offset === 0 && $at === self::ENTRY_BYTES ? $position : $this->trimmedTo;
                continue;
            }
            if (strlen($payload) < $at + $length) {
                throw $this->damaged();
            }
            if (strcmp($position, $after) > 0) { // big-endian, so bytes compare as positions do
                yield substr($payload, $at, $length);
            }
            $at += $length;
        }
    }

    private function damaged(): Failure
    {
        return Failure::data("$this->path: is damaged at byte $this->offset");
    }
}
