<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;

/**
 * A set in the directory where a loader publishes. It answers by the same rules as the extension (docs/concurrency.md): from the
 * current publication alone.
 */
final class PublishedDirectory implements Source
{
    private readonly string $folder;
    private ?ControlPage $control = null;
    private ?Published $published = null;
    private ?int $failed = null; // a publication that could not be attached, because of $trouble
    private ?Failure $controlTrouble = null;
    private ?Failure $trouble = null;
    private ?int $settledWord = null; // nothing changes between two looks as long as the control page has this word
    private int $bypassedBy = 0;
    private Availability $availability = Availability::Missing;

    public function __construct(string $directory, private readonly string $set, private readonly ?int $trustedOwner)
    {
        $this->folder = "$directory/$set";
    }

    public function follow(int $now, bool $looks): bool
    {
        [$control, $published, $controlTrouble] = [$this->control, $this->published, $this->controlTrouble];
        $before = $this->known();
        if ($looks || $control === null) {
            [$control, $published, $controlTrouble] = $this->followControl($control, $published);
        }
        try {
            $current = $control?->current() ?? 0;
            if (!$looks && $current === $this->settledWord) {
                return false;
            }
            [$published, $isBehind] = $controlTrouble === null
                ? $this->followCurrent($control, $published, ControlPage::publicationOf($current), $looks) : [$published, false];
            $current = $control?->current() ?? 0; // it may have moved on meanwhile
            $isBypassed = $current < 0 || $current >= ControlPage::ADDS_LOST;
            $bypassedBy = $control !== null && $isBypassed ? $control->bypassesInForce($current, $now) : 0;
        } catch (Failure $failure) {
            [$current, $isBehind, $bypassedBy, $controlTrouble] = [null, false, 0, $failure];
        }
        if ($this->known() !== $before) {
            return $this->follow($now, $looks);
        }
        [$this->control, $this->published, $this->controlTrouble, $this->bypassedBy] = [$control, $published, $controlTrouble, $bypassedBy];
        if ($published !== null && $control !== null) {
            $published->control = $control;
        }
        $this->settledWord = $published?->number === $current && !$isBehind ? $current : null;
        $this->availability = $this->availabilityAt($now, $isBehind);
        return true;
    }

    /** @return list<mixed> what a signal handler or another coroutine that follows may change while this one reads */
    private function known(): array
    {
        return [$this->control, $this->published, $this->controlTrouble === null];
    }

    public function availability(): Availability
    {
        return $this->availability;
    }

    public function reason(): string
    {
        return match ($this->availability) {
            Availability::Bypassed => match (true) {
                ($this->bypassedBy & ControlPage::DAMAGED) !== 0 => 'its bytes have changed since they were published',
                ($this->bypassedBy & ControlPage::ADDS_LOST) !== 0 => 'the store has lost keys that were added to it',
                $this->bypassedBy === ControlPage::BYPASSED => 'bypassed by an operator of this host',
                $this->bypassedBy === ControlPage::BYPASSED_IN_STORE => 'bypassed in the store',
                default => 'bypassed by an operator of this host, and in the store',
            },
            Availability::Expired => 'its snapshot is past valid_for',
            default => (string) ($this->controlTrouble ?? $this->trouble)?->getMessage(),
        };
    }

    public function publication(): ?Publication
    {
        return $this->published;
    }

    /**
     * Opens the page that the path leads to now. If there is none any more, what is open goes on answering.
     *
     * @return array{?ControlPage, ?Published, ?Failure}
     */
    private function followControl(?ControlPage $control, ?Published $published): array
    {
        try {
            if ($control === null || ControlPage::isAnotherAt("$this->folder/control", $control)) {
                $wasBehind = $control !== null && $published !== null && self::isBehind($control, $published, ControlPage::publicationOf($control->current()));
                $control = new ControlPage((new Folder($this->folder, $this->trustedOwner))->open('control'));
                if ($wasBehind || $published?->isOf($control)) {
                    $published = null; // the page before has named a newer one, or this is a copy: the same numbers but other files
                }
                $this->failed = $this->trouble = null;
            }
            return [$control, $published, null];
        } catch (Failure $failure) {
            return [$control, $published, $failure];
        }
    }

    /**
     * @return array{?Published, bool} what answers from now on, and whether it is behind
     * @throws Failure
     */
    private function followCurrent(?ControlPage $control, ?Published $published, int $wanted, bool $looks): array
    {
        if ($control === null || ($published !== null && $published->number === $wanted && $published->isOf($control))) {
            return [$published, false];
        }
        if ($wanted === 0) {
            $this->trouble = Failure::unreadable('nothing is published yet');
            return [$published, false];
        }
        $mayAttach = $wanted !== $this->failed || ($looks && $this->trouble?->isForGood !== true);
        $attached = $mayAttach ? $this->attach($control, $wanted) : null;
        return [$attached ?? $published, $attached === null];
    }

    private static function isBehind(ControlPage $control, Published $published, int $current): bool
    {
        return $current !== 0 && ($published->number !== $current || !$published->isOf($control));
    }

    /** Its files may be gone again if a newer one has become current meanwhile. */
    private function attach(ControlPage $control, int $wanted): ?Published
    {
        for ($tries = 1;; ++$tries) {
            try {
                $published = new Published(new Folder($this->folder, $this->trustedOwner), $this->set, $control, $wanted);
                $this->failed = $this->trouble = null;
                return $published;
            } catch (Failure $failure) {
                $now = ControlPage::publicationOf($control->current());
                if ($now !== $wanted && $tries < 3) {
                    $wanted = $now;
                    continue;
                }
                $this->trouble = $failure;
                $this->failed = $wanted;
                return null;
            }
        }
    }

    private function availabilityAt(int $now, bool $isBehind): Availability
    {
        if ($this->controlTrouble !== null) {
            return $this->controlTrouble->availability;
        }
        if ($this->published === null || $isBehind) {
            return $this->trouble->availability ?? Availability::Missing;
        }
        if ($this->bypassedBy !== 0) {
            return Availability::Bypassed;
        }
        return $this->published->snapshot()->header->isExpiredAt($now) ? Availability::Expired : Availability::Ready;
    }
}
