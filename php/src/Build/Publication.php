<?php

declare(strict_types=1);

namespace KeySieve\Build;

use KeySieve\Reader\Failure;
use KeySieve\Reader\File;
use KeySieve\Reader\Kind;

/**
 * Puts a set where extension and package look, on a host where no loader feeds it. docs/concurrency.md has the files and their fields.
 *
 * PHP has no compare-exchange, and a plain write into a control page could erase a bypass. So the page is moved aside and read once more,
 * and a complete new one, with a new instance, takes its place. Meanwhile readers that have the old page go on with it, and others answer
 * maybe. Killed at any step, this leaves the old publication or the new one, or no page, until the next publisher, of any kind, puts the old
 * one back, which may have got a bypass.
 */
final class Publication
{
    private const PAGE_BYTES = 4096;
    private const ENDIAN_MARK = 0x01020304;
    private const ABI_MAJOR = 2;
    private const CURRENT = 64; // offsets in a control page
    private const HEARTBEAT = 256;
    private const LIVE_KEYS = 128; // in a live page
    private const BYPASS_ENDS = [1 << 62 => 320, PHP_INT_MIN => 128];
    private const ADDS_LOST = 1 << 60;
    private const NUMBER = (1 << 60) - 1;

    private readonly string $folder;
    private readonly string $control;

    public function __construct(string $directory, private readonly string $set)
    {
        $this->folder = "$directory/$set";
        $this->control = "$this->folder/control";
    }

    /**
     * @param string $snapshot of this set
     * @param ?string $group of the processes that will read it; null: that of the directory, or as the system says
     * @throws CannotWrite and leaves what was published before
     */
    public function replace(string $snapshot, ?string $group = null): void
    {
        $this->makeFolder($group);
        $lock = $this->lock();
        try {
            if (!file_exists($this->control) && file_exists("$this->control.old")) {
                NewFile::rename("$this->control.old", $this->control); // of a run that was killed
            }
            $page = file_exists($this->control) ? File::open($this->control, null) : null;
            $current = $page === null ? 0 : $this->currentIn($page);
            $this->checkNothingIsHidden($current);
            $this->publish($snapshot, $page, $current);
        } catch (Failure $failure) {
            throw new CannotWrite($failure->getMessage(), 0, $failure);
        } finally {
            fclose($lock);
        }
    }

    /**
     * The path of what is published; of nothing if nothing is.
     *
     * @throws CannotWrite if it must not be replaced
     */
    public function snapshot(): string
    {
        $control = file_exists($this->control) ? $this->control : "$this->control.old";
        try {
            $current = file_exists($control) ? $this->currentIn(File::open($control, null)) : 0;
        } catch (Failure $failure) {
            throw new CannotWrite($failure->getMessage(), 0, $failure);
        }
        return sprintf('%s/%016x.ks', $this->folder, $current);
    }

    /** @throws CannotWrite|Failure */
    private function publish(string $snapshot, ?File $page, int $current): void
    {
        $number = $this->removeLeftovers($current) + 1;
        $instance = random_bytes(8);
        $name = sprintf('%s/%016x', $this->folder, $number);
        try {
            NewFile::create("$name.live.tmp", self::livePage($instance, $number, substr($snapshot, 16, 16)), 0640);
            NewFile::create("$name.ks.tmp", $snapshot, 0440);
            NewFile::create("$this->control.tmp", self::controlPage($instance, $number), 0640);
            NewFile::rename("$name.live.tmp", "$name.live");
            NewFile::rename("$name.ks.tmp", "$name.ks");
            if ($page !== null) {
                NewFile::rename($this->control, "$this->control.old");
                if ($this->currentIn($page) !== $current) { // whoever changes it later sees that it is not in its place any more
                    throw new CannotWrite("$this->control: another publisher has moved it");
                }
            }
            NewFile::rename("$this->control.tmp", $this->control);
        } catch (\Throwable $failure) {
            if (!file_exists($this->control) && file_exists("$this->control.old")) {
                @rename("$this->control.old", $this->control);
            }
            $this->removeLeftovers($current);
            throw $failure;
        }
        @unlink("$this->control.old");
    }

    /**
     * The number of the publication that a page names, 0 if it is damaged, and so no reader's.
     *
     * @throws CannotWrite|Failure if the page must not be replaced
     */
    private function currentIn(File $page): int
    {
        if ($page->status['size'] !== self::PAGE_BYTES) {
            return 0;
        }
        $bytes = $page->read(0, self::PAGE_BYTES);
        /** @var array{magic: string, mark: int, major: int} $fields */
        $fields = unpack('a8magic/Vmark/vmajor', $bytes);
        if ($fields['magic'] !== 'KSCONTRL') {
            return 0;
        }
        if ($fields['mark'] !== self::ENDIAN_MARK || $fields['major'] !== self::ABI_MAJOR) { // whose checksum may be elsewhere
            throw new CannotWrite("$this->control: is of another version of keysieve");
        }
        if (strrev(hash('xxh3', substr($bytes, 0, 24), true)) !== substr($bytes, 24, 8)) {
            return 0;
        }
        $current = Kind::word($bytes, self::CURRENT);
        $isBypassed = false;
        foreach (self::BYPASS_ENDS as $bit => $at) {
            $end = Kind::word($bytes, $at);
            $isBypassed = $isBypassed || (($current & $bit) !== 0 && ($end === 0 || $end > time()));
        }
        $obstacle = match (true) {
            Kind::word($bytes, self::HEARTBEAT) !== 0 => 'a loader feeds this set: take it out of keysieved.toml, or remove the folder if there is no loader any more',
            $isBypassed => 'the set is bypassed: "keysieve bypass --off" ends that',
            ($current & self::ADDS_LOST) !== 0 => 'keys that were added to the set are lost: remove the folder if the list has them all',
            default => null,
        };
        return $obstacle === null ? $current & self::NUMBER : throw new CannotWrite("$this->control: $obstacle");
    }

    /**
     * A loader that has left the set may have added keys that the list lacks: to any live page, if no control page says which one counts.
     *
     * @throws CannotWrite|Failure
     */
    private function checkNothingIsHidden(int $current): void
    {
        $named = sprintf('%016x.live', $current);
        foreach (scandir($this->folder) ?: [] as $name) {
            $path = "$this->folder/$name";
            $mayCount = $name === $named || ($current === 0 && str_ends_with($name, '.live'));
            if ($mayCount && Kind::word(File::open($path, null)->read(self::LIVE_KEYS, 8), 0) !== 0) {
                throw new CannotWrite("$path: keys were added to the set, and would be absent: remove the folder if the list has them all");
            }
        }
    }

    /**
     * Removes all files but those of a publication.
     *
     * @return int the highest number that a publication has had
     */
    private function removeLeftovers(int $current): int
    {
        $highest = $current;
        foreach (scandir($this->folder) ?: [] as $name) {
            $isPublication = preg_match('/\A([0-9a-f]{16})\.(?:ks|live)(\.tmp)?\z/', $name, $match) === 1;
            $number = $isPublication ? (int) hexdec($match[1]) : 0;
            $highest = max($highest, $number);
            if ($name === 'control.tmp' || ($isPublication && ($number !== $current || isset($match[2])))) {
                @unlink("$this->folder/$name");
            }
        }
        return $highest;
    }

    /** @throws CannotWrite */
    private function makeFolder(?string $group): void
    {
        $directory = dirname($this->folder);
        if (!file_exists($directory)) { // after a reboot
            NewFile::attempt($directory, static fn () => mkdir($directory) && chmod($directory, 0755));
        }
        if (!file_exists($this->folder)) {
            NewFile::attempt($this->folder, fn () => mkdir($this->folder, 0750));
            @chgrp($this->folder, (int) filegroup($directory)); // which a user may not be in
        }
        if (is_link($this->folder) || !is_dir($this->folder)) {
            throw new CannotWrite("$this->folder: is no folder");
        }
        if (fileowner($this->folder) !== $this->ownUid()) {
            throw new CannotWrite("$this->folder: belongs to another user, so nobody would trust what this one publishes there");
        }
        if ($group !== null) {
            NewFile::attempt($this->folder, fn () => chgrp($this->folder, $group));
        }
        NewFile::attempt($this->folder, fn () => chmod($this->folder, 02750)); // new files get its group
    }

    /**
     * The lock that loaders take, until it is closed.
     *
     * @return resource
     * @throws CannotWrite
     */
    private function lock()
    {
        $path = "$this->folder/lock";
        $lock = NewFile::attempt($path, static fn () => is_link($path) ? false : fopen($path, 'cb'));
        if (!flock($lock, LOCK_EX | LOCK_NB)) {
            throw new CannotWrite("$path: another process publishes the set \"$this->set\"");
        }
        clearstatcache();
        if ((fstat($lock)['ino'] ?? null) !== NewFile::attempt($path, static fn () => chmod($path, 0600) ? fileinode($path) : false)) {
            throw new CannotWrite("$path: was replaced while it was taken");
        }
        return $lock;
    }

    /** PHP may have no posix. */
    private function ownUid(): int
    {
        $file = NewFile::attempt(sys_get_temp_dir(), tmpfile(...));
        return fstat($file)['uid'] ?? -1;
    }

    private static function controlPage(string $instance, int $number): string
    {
        $header = pack('a8Vvva8', 'KSCONTRL', self::ENDIAN_MARK, self::ABI_MAJOR, 0, $instance);
        return str_pad(str_pad(self::sealed($header), self::CURRENT, "\0") . pack('P', $number), self::PAGE_BYTES, "\0");
    }

    /** Without a live layer. */
    private static function livePage(string $instance, int $number, string $seed): string
    {
        $header = pack('a8a8PPPa16x8', 'KSLIVE01', $instance, $number, 0, time(), $seed);
        return str_pad(self::sealed($header), self::PAGE_BYTES, "\0");
    }

    private static function sealed(string $header): string
    {
        return $header . strrev(hash('xxh3', $header, true));
    }
}
