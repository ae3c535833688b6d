<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** Why a set could not be read. Never leaves the package: each answer is maybe then, and Info::$trouble says why. */
final class Failure extends \Exception
{
    /**
     * @param string $state the value of an Availability
     * @param bool $isForGood it is no use to try again before there is something else to read
     */
    public function __construct(string $message, private readonly string $state = 'missing', public readonly bool $isForGood = false)
    {
        parent::__construct($message);
    }

    /** The bytes are damaged. */
    public static function data(string $message): self
    {
        return new self($message, isForGood: true);
    }

    /** Another version wrote it. */
    public static function incompatible(string $message): self
    {
        return new self($message, 'incompatible', true);
    }

    /** @return array{string, string} as SnapshotFile::$why */
    public function why(): array
    {
        return [$this->state, $this->getMessage()];
    }
}
