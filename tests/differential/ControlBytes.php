<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** A control page, as docs/concurrency.md describes it. */
final class ControlBytes extends SealedBytes
{
    public const FIELDS = [
        'magic' => [0, 8], 'endian_mark' => [8, 4], 'abi_major' => [12, 2], 'abi_minor' => [14, 2], 'instance' => [16, 8],
        'header_checksum' => [24, 8], 'current' => [64, 8], 'bypass_until' => [128, 8], 'last_confirmed' => [192, 8],
        'heartbeat' => [256, 8], 'store_bypass_until' => [320, 8],
    ];

    public const DAMAGED = 1 << 61;
    public const BYPASSED_IN_STORE = 1 << 62;
    public const BYPASSED = PHP_INT_MIN;

    public static function of(int $instance, int $current): self
    {
        $page = new self(str_repeat("\0", 4096));
        $page->put('magic', 'KSCONTRL')->put('endian_mark', 0x01020304)->put('abi_major', 2);
        return $page->put('instance', $instance)->put('current', $current)->seal();
    }

    public function seal(): static
    {
        return strlen($this->bytes) < 64 ? $this : $this->put('header_checksum', self::checksum(substr($this->bytes, 0, 24)));
    }
}
