<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Bytes with fields at fixed places, and with checksums that can be made to match again. */
abstract class SealedBytes
{
    /** @var array<string, array{int, int}> offset and size */
    protected const FIELDS = [];

    private const DAMAGES = ['field' => 60, 'bit' => 15, 'run' => 10, 'cut' => 5, 'longer' => 5, 'whole' => 1];

    public function __construct(public string $bytes)
    {
    }

    /** Makes the checksums match what they cover. */
    abstract public function seal(): static;

    /** The field has at most 8 bytes. */
    public function number(string $field): int
    {
        [$at, $size] = static::FIELDS[$field];
        return unpack('P', str_pad(substr($this->bytes, $at, $size), 8, "\0"))[1];
    }

    /** Less of them if the bytes end before. */
    public function bytesOf(string $field): string
    {
        return substr($this->bytes, ...static::FIELDS[$field]);
    }

    /** The field is padded with NUL. */
    public function text(string $field): string
    {
        return explode("\0", $this->bytesOf($field), 2)[0];
    }

    /** Text is padded with NUL. */
    public function put(string $field, int|float|string $value): static
    {
        [$at, $size] = static::FIELDS[$field];
        $this->putBytes($at, substr(str_pad(match (true) {
            is_int($value) => pack('P', $value),
            is_float($value) => pack('e', $value),
            default => $value,
        }, $size, "\0"), 0, $size));
        return $this;
    }

    /** Changes something, so that it may be what no writer writes. Returns what. */
    public function damage(Random $random): string
    {
        $length = strlen($this->bytes);
        switch ($length === 0 ? 'longer' : $random->weighted(self::DAMAGES)) {
            case 'field':
                $field = $random->of(array_keys(static::FIELDS));
                [$at, $size] = static::FIELDS[$field];
                $this->putBytes($at, self::anyValue($random, str_pad(substr($this->bytes, $at, $size), $size, "\0")));
                return "$field is 0x" . bin2hex(substr($this->bytes, $at, min($size, 16)));
            case 'bit':
                $at = $random->between(0, $length - 1);
                $this->bytes[$at] = $this->bytes[$at] ^ chr(1 << $random->between(0, 7));
                return "a bit of byte $at is wrong";
            case 'run':
                $at = $random->between(0, $length - 1);
                $count = min($length - $at, 1 + $random->size(2_000));
                $this->putBytes($at, $random->chance(0.5) ? $random->bytes($count) : str_repeat($random->of(["\0", "\xff"]), $count));
                return "$count bytes from $at are others";
            case 'cut':
                $this->bytes = substr($this->bytes, 0, $random->chance(0.5) ? $random->between(0, $length - 1) : $length - 1);
                return 'cut to ' . strlen($this->bytes) . ' bytes';
            case 'longer':
                $this->bytes .= $random->bytes($random->of([1, 8, 4096, 65536]));
                return 'longer: ' . strlen($this->bytes) . ' bytes';
            default:
                $this->bytes = $random->bytes($random->size(10_000));
                return 'only ' . strlen($this->bytes) . ' random bytes';
        }
    }

    /** Each in its place: a copy of all bytes for each field of a large snapshot would take a minute. */
    protected function putBytes(int $at, string $bytes): void
    {
        $length = strlen($bytes);
        if (strlen($this->bytes) < $at + $length) {
            $this->bytes = str_pad($this->bytes, $at + $length, "\0");
        }
        for ($i = 0; $i < $length; ++$i) {
            $this->bytes[$at + $i] = $bytes[$i];
        }
    }

    /** As the checksums of all formats. */
    protected static function checksum(string $bytes): string
    {
        return strrev(hash('xxh3', $bytes, true));
    }

    /** A value that is near the old one, at an end of its range, or any. */
    protected static function anyValue(Random $random, string $old): string
    {
        $size = strlen($old);
        if ($size > 8) {
            return $random->bytes($size);
        }
        $number = unpack('P', str_pad($old, 8, "\0"))[1];
        $value = match ($random->weighted(['near' => 30, 'small' => 20, 'end' => 20, 'bit' => 15, 'any' => 10, 'double' => 5])) {
            'near' => pack('P', $number ^ $random->between(1, 7)),
            'small' => pack('P', $random->size(70_000)),
            'end' => $random->of(["\0", "\xff", "\x7f"]) . str_repeat($random->of(["\0", "\xff"]), 6)
                . $random->of(["\0", "\xff", "\x7f", "\x80"]),
            'bit' => pack('P', $number ^ 1 << $random->between(0, 8 * $size - 1)),
            'any' => $random->bytes(8),
            'double' => pack('e', $random->of([NAN, INF, -0.0, -1.0, 0.0, 1e-9, 9.9e-10, 0.5, 0.500001, 1.0, 1.000001])),
        };
        return substr($value, $size === 8 || $random->chance(0.9) ? 0 : -$size, $size);
    }
}
