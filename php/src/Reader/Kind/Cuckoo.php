<?php

declare(strict_types=1);

namespace KeySieve\Reader\Kind;

use KeySieve\Reader\Kind;

/** A fingerprint in one of two buckets of four slots. */
final class Cuckoo extends Kind
{
    public const NAME = 'cuckoo';
    protected const HASH_COUNTS = [4, 31];

    private const NARROWEST = 2;

    public function find(string $bytes, string $entry, int $hash): ?int
    {
        $entry = self::entry($entry);
        if ($entry['width'] === 0 && $entry['keys'] !== 0) {
            return 0; // more keys than fit
        }
        $width = max($entry['width'], self::NARROWEST);
        $mixed = self::mix($hash, $entry['seed']);
        $buckets = $this->buckets($width);
        $fingerprint = 1 + self::reduce(self::product($mixed, self::C), (1 << $width) - 1);
        $bucket = self::reduce($mixed, $buckets);
        $other = self::reduce(self::fold($fingerprint, self::A), $buckets) - $bucket;
        return self::has($bytes, $width, $bucket, $fingerprint)
            || self::has($bytes, $width, $other < 0 ? $other + $buckets : $other, $fingerprint) ? 0 : null;
    }

    public function faultOf(array $entry): ?string
    {
        return match (true) {
            $entry['width'] > $this->hashCount => "its fingerprints are wider than the set's",
            $entry['width'] !== 0 && $entry['width'] < self::NARROWEST => 'its fingerprints are too narrow',
            default => $entry['blocks'] === 0 && $entry['shape'] === 0 ? null : 'its kind has no block count or shape',
        };
    }

    public function fillRatio(string $bytes, array $entry): float
    {
        $width = $entry['width'];
        if ($width === 0) {
            return 1.0;
        }
        $slots = 4 * $this->buckets($width);
        $taken = 0;
        for ($slot = 0; $slot < $slots; ++$slot) {
            $taken += (int) (self::field($bytes, $slot * $width, $width) !== 0);
        }
        return $taken / $slots;
    }

    private function buckets(int $width): int
    {
        return intdiv(8 * $this->shardBytes, 4 * $width);
    }

    private static function has(string $bytes, int $width, int $bucket, int $fingerprint): bool
    {
        for ($slot = 4 * $bucket, $end = $slot + 4; $slot < $end; ++$slot) {
            if (self::field($bytes, $slot * $width, $width) === $fingerprint) {
                return true;
            }
        }
        return false;
    }
}
