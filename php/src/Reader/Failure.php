<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;

/** Why a set does not answer, or could not be read. Never leaves the package: each answer is maybe then, and Info::$trouble says why. */
final class Failure extends \Exception
{
    /** @param bool $isForGood it is no use to try again before there is something else to read */
    private function __construct(string $message, public readonly Availability $availability, public readonly bool $isForGood)
    {
        parent::__construct($message);
    }

    /** It may succeed another time: a file is missing, or cannot be opened. */
    public static function unreadable(string $message): self
    {
        return new self($message, Availability::Missing, false);
    }

    /** The bytes are damaged. */
    public static function data(string $message): self
    {
        return new self($message, Availability::Missing, true);
    }

    /** Another version wrote it. */
    public static function incompatible(string $message): self
    {
        return new self($message, Availability::Incompatible, true);
    }

    public static function bypassed(string $message): self
    {
        return new self($message, Availability::Bypassed, false);
    }

    public static function expired(): self
    {
        return new self('its snapshot is past valid_for', Availability::Expired, false);
    }
}
