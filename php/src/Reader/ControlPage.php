<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** The control page of a set, which says which publication is current. docs/concurrency.md has its fields. */
final class ControlPage
{
    public const ADDS_LOST = 1 << 60;
    public const DAMAGED = 1 << 61;
    public const BYPASSED_IN_STORE = 1 << 62;
    public const BYPASSED = PHP_INT_MIN; // bit 63

    private const BYTES = 4096;
    private const ABI_MAJOR = 1;
    private const CURRENT = 64;
    private const BYPASS_UNTIL = 128;
    private const LAST_CONFIRMED = 192;
    private const STORE_BYPASS_UNTIL = 384;

    public readonly int $instance;
    /** @var array{int, int} */
    private readonly array $identity;

    /** @throws Failure */
    public function __construct(private readonly File $file)
    {
        $name = $file->name();
        $status = $file->status();
        if ($status['size'] !== self::BYTES) {
            throw Failure::data("$name: has {$status['size']} bytes, a control page has 4096");
        }
        $header = $file->read(0, 32);
        /** @var array{magic: string, mark: int, major: int, minor: int, instance: int} $fields */
        $fields = unpack('a8magic/Vmark/vmajor/vminor/Pinstance', $header);
        if ($fields['magic'] !== 'KSCONTRL') {
            throw Failure::data("$name: is not a keysieve control page");
        }
        if ($fields['mark'] !== 0x01020304 || $fields['major'] !== self::ABI_MAJOR) {
            throw Failure::incompatible("$name: control page of ABI {$fields['major']}, this version knows " . self::ABI_MAJOR
                . ': damaged, or written by another version');
        }
        if (strrev(substr($header, 24)) !== hash('xxh3', substr($header, 0, 24), true)) {
            throw Failure::data("$name: control page is damaged: its checksum does not match");
        }
        $this->instance = $fields['instance'];
        $this->identity = [$status['dev'], $status['ino']];
    }

    /** Whether the path leads to another page now. Without any page there, nothing can be published. */
    public static function isAnotherAt(string $path, self $known): bool
    {
        $status = File::statusOf($path);
        return $status !== null && [$status['dev'], $status['ino']] !== $known->identity;
    }

    /** The number of the current publication, and the bits above. */
    public function current(): int
    {
        return $this->number(self::CURRENT);
    }

    public static function publicationOf(int $current): int
    {
        return $current & self::ADDS_LOST - 1;
    }

    public function lastConfirmed(): int
    {
        return $this->number(self::LAST_CONFIRMED);
    }

    /** Those bits of $current that hold now: the ends of the two bypasses may have passed. */
    public function bypassesInForce(int $current, int $now): int
    {
        $bits = $current & (self::ADDS_LOST | self::DAMAGED | self::BYPASSED_IN_STORE | self::BYPASSED);
        foreach ([self::BYPASSED => self::BYPASS_UNTIL, self::BYPASSED_IN_STORE => self::STORE_BYPASS_UNTIL] as $bit => $end) {
            if (($bits & $bit) !== 0) {
                $until = $this->number($end);
                $bits &= $until !== 0 && $until <= $now ? ~$bit : -1;
            }
        }
        return $bits;
    }

    private function number(int $at): int
    {
        return Word::at($this->file->read($at, 8), 0);
    }
}
