<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** A snapshot that is to be published, and what is known of it. */
final readonly class Content
{
    /**
     * @param list<string> $keys       that it must have, if it is taken
     * @param list<string> $absent     known-absent keys
     * @param bool         $isReadable false: it must not be taken
     * @param bool         $isKnown    false: nobody knows its keys, or whether it can be read
     * @param ?string      $missing    ending of a file of the publication that is not there
     */
    public function __construct(
        public SnapshotBytes $snapshot,
        public array $keys,
        public array $absent,
        public int $validUntil,
        public string $description,
        public bool $isReadable = true,
        public bool $isKnown = true,
        public ?string $missing = null,
    ) {
    }

    public function unreadable(string $why): self
    {
        return new self($this->snapshot, $this->keys, [], 0, "$this->description, $why", false);
    }

    public function missing(string $ending): self
    {
        return new self($this->snapshot, $this->keys, [], 0, "$this->description, without its .$ending", false, true, $ending);
    }

    public function unknown(string $why): self
    {
        return new self($this->snapshot, [], [], $this->validUntil, $this->description . ($why === '' ? '' : ", $why"), isKnown: false);
    }
}
