<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** The adds log of a set in a dir: store, a file of frames that others append to. tools/stores/log_file.hpp has the format. */
final class AddsLog
{
    private const HEADER_BYTES = 32;
    private const ENTRY_BYTES = 20;
    private const MARK = 0xffffffff;
    private const MARK_BYTES = 24;
    private const BEFORE_ALL = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    private ?File $file = null;
    private int $offset = 0; // everything before it has been read
    private int $lastAt = 0;
    private string $last = ''; // header of the last frame that was read: its writer may take it back if its disk fails
    private string $trimmedTo = self::BEFORE_ALL;
    private string $begun = self::BEFORE_ALL;
    private int $count = 0; // of all keys ever appended
    private ?LogWitness $witness = null; // what must stand in the log
    private bool $hasWitness = false; // as far as it was read

    public function __construct(public readonly string $path)
    {
    }

    /** The position up to which keys were removed, as of the last read. */
    public function trimmedTo(): string
    {
        return $this->trimmedTo;
    }

    /** Makes the next read begin at the first entry, and look for what must stand in the log. */
    public function rewind(LogWitness $witness): void
    {
        $this->offset = 0;
        $this->witness = $witness;
    }

    /** Whether the log holds all that the witness knew, but for what was trimmed, as of the last read. */
    public function isWhole(): bool
    {
        if ($this->witness === null || $this->witness->begun === self::BEFORE_ALL) {
            return true;
        }
        $isThere = $this->hasWitness || (strcmp($this->witness->position, $this->trimmedTo) <= 0 && $this->count >= $this->witness->ordinal);
        return $isThere && $this->begun === $this->witness->begun;
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
            $this->offset = 0;
            $this->begun = self::BEFORE_ALL;
            File::statusOf(dirname($this->path)) ?? throw Failure::unreadable(dirname($this->path) . ': No such file or directory');
            return;
        }
        $file = $this->file;
        $open = $file?->status();
        $isKnown = $open !== null && [$open['dev'], $open['ino']] === [$status['dev'], $status['ino']];
        if ($file === null || !$isKnown || $status['size'] < $this->offset || !$this->isLastThere($file)) {
            $file = $this->file = File::open($this->path);
            $this->offset = 0;
        }
        $begin = $this->offset;
        try {
            yield from $this->keysFromHere($file, $after);
        } catch (Failure $failure) {
            if ($begin === 0) {
                throw $failure;
            }
            // A writer whose disk has failed may have replaced what was read before.
            $this->offset = 0;
            yield from $this->keysFromHere($file, $after);
        }
    }

    /** @return iterable<string> */
    private function keysFromHere(File $file, string $after): iterable
    {
        if ($this->offset === 0) {
            $this->trimmedTo = $this->begun = self::BEFORE_ALL;
            $this->count = 0;
            $this->hasWitness = false;
        }
        while (($frame = $this->nextFrame($file)) !== null) {
            [$header, $payload] = $frame;
            yield from $this->keysOf($payload, self::number($header, 8), $after);
            [$this->lastAt, $this->last] = [$this->offset, $header];
            $this->offset += self::HEADER_BYTES + strlen($payload);
        }
    }

    private function isLastThere(File $file): bool
    {
        return $this->offset === 0 || $file->readUpTo($this->lastAt, self::HEADER_BYTES) === $this->last;
    }

    /** @return ?array{string, string} header and payload; null if there is no whole frame: a writer may be at work, or may have been killed */
    private function nextFrame(File $file): ?array
    {
        $header = $file->readUpTo($this->offset, self::HEADER_BYTES);
        if (strlen($header) < self::HEADER_BYTES) {
            return null;
        }
        if (trim($header, "\0") === '') {
            return $this->isZeroFrom($file, $this->offset) ? null : throw $this->damaged();
        }
        /** @var array{magic: string, bytes: int} $fields */
        $fields = unpack('a8magic/x4/Vbytes', $header);
        if ($fields['magic'] !== 'KEYSLOG1' || strrev(hash('xxh3', substr($header, 0, 24), true)) !== substr($header, 24)) {
            throw $this->damaged();
        }
        $payload = $file->readUpTo($this->offset + self::HEADER_BYTES, $fields['bytes']);
        if (strlen($payload) < $fields['bytes']) {
            return null;
        }
        if (strrev(hash('xxh3', $payload, true)) !== substr($header, 16, 8)) {
            throw $this->damaged();
        }
        return [$header, $payload];
    }

    /** After a crash a file may end with zeros. */
    private function isZeroFrom(File $file, int $offset): bool
    {
        while (($piece = $file->readUpTo($offset, 1 << 16)) !== '') {
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
            $length = self::number($payload, $at + 16);
            $at += self::ENTRY_BYTES;
            if ($length === self::MARK) {
                if (strlen($payload) < $at + self::MARK_BYTES) {
                    throw $this->damaged();
                }
                $this->trimmedTo = $this->offset === 0 ? $position : $this->trimmedTo;
                $this->begun = substr($payload, $at, 16);
                $this->count = Word::at($payload, $at + self::MARK_BYTES - 8);
                $at += self::MARK_BYTES;
                continue;
            }
            if (strlen($payload) < $at + $length) {
                throw $this->damaged();
            }
            ++$this->count;
            $this->hasWitness = $this->hasWitness || ($position === $this->witness?->position && $this->count === $this->witness->ordinal);
            if (strcmp($position, $after) > 0) { // big-endian, so bytes compare as positions do
                yield substr($payload, $at, $length);
            }
            $at += $length;
        }
    }

    private static function number(string $bytes, int $at): int
    {
        /** @var array{1: int} $numbers */
        $numbers = unpack('V', $bytes, $at);
        return $numbers[1];
    }

    private function damaged(): Failure
    {
        return Failure::data("$this->path: is damaged at byte $this->offset");
    }
}
