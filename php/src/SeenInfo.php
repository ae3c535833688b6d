<?php

declare(strict_types=1);

namespace KeySieve;

if (!class_exists(SeenInfo::class, false)) { // see bootstrap.php
    /** What the extension knows about a seen set that is Ready. All moments are in UTC, by the loader's clock. */
    final readonly class SeenInfo implements \Serializable
    {
        use NotSerializable;

        /** Begin of the newest window, which takes the keys. */
        public \DateTimeImmutable $windowBeginsAt;
        /** End of the newest window, by plan: it takes keys until the loader opens the next one. */
        public \DateTimeImmutable $windowEndsAt;
        /** Begin of the oldest live window. */
        public \DateTimeImmutable $oldestBeginsAt;
        /** Number of live windows. */
        public int $windows;
        /** Number of filters of all live windows: a window that gets more keys than planned has several. */
        public int $filters;
        /** Keys for which the filters of the newest window are made. */
        public int $windowCapacity;
        /** Keys of the newest window, estimated from the filters' bits: 5 may be 3 or 7. */
        public int $estimatedWindowKeys;
        /** Size of all filters. */
        public int $sizeBytes;
        /** The highest share of new keys wrongly called seen, as long as no filter holds more keys than it is made for. */
        public float $targetFalsePositiveRate;
        /** The share now, estimated from the filters' bits. */
        public float $estimatedFalsePositiveRate;
        /** What addIfNew() does while the set is unavailable: `new`, `seen` or `throw`. */
        public string $onUnavailable;
        /** When the loader last looked at the set; null: never. Windows live longer while it does not. */
        public ?\DateTimeImmutable $lookedAt;

        private function __construct()
        {
        }
    }
}
