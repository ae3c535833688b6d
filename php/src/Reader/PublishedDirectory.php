<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;

/**
 * A set in the directory where a loader publishes. It answers by the same rules as the extension (docs/concurrency.md): from the
 * current publication, or from the one before it until the current one can be read.
 */
final class PublishedDirectory implements Source
{
    private readonly string $folder;
    private ?ControlPage $control = null;
    private ?Published $published = null;
    private ?int $failed = null; // a publication that could not be attached, because of $trouble
    private ?Failure $controlTrouble = null;
    private ?Failure $trouble = null;
    private bool $isBehind = false;
    private ?int $settledWord = null; // nothing changes between two looks as long as the control page has this word
    private int $bypassedBy = 0;
    private Availability $availability = Availability::Missing;

    public function __construct(string $directory, private readonly string $set, private readonly ?int $trustedOwner)
    {
        $this->folder = "$directory/$set";
    }

    public function follow(int $now, bool $looks): bool
    {
        try {
            if ($looks || $this->control === null) {
                $this->followControl();
            }
            $current = $this->control?->current() ?? 0;
            if (!$looks && $current === $this->settledWord) {
                return false;
            }
            $this->followCurrent(ControlPage::publicationOf($current), $looks);
            $current = $this->control?->current() ?? 0; // it may have moved on meanwhile
            $isBypassed = $current < 0 || $current >= ControlPage::DAMAGED;
            $this->bypassedBy = $isBypassed ? $this->control->bypassesInForce($current, $now) : 0;
            $this->settledWord = $this->published?->number === $current && !$this->isBehind ? $current : null;
        } catch (Failure $failure) {
            $this->controlTrouble = $failure;
            $this->settledWord = null;
        }
        $this->availability = $this->availabilityAt($now);
        return true;
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

    /** Opens the page that the path leads to now. If there is none any more, what is open goes on answering. */
    private function followControl(): void
    {
        try {
            if ($this->control === null || ControlPage::isAnotherAt("$this->folder/control", $this->control)) {
                $wasBehind = $this->control !== null && $this->isBehind(ControlPage::publicationOf($this->control->current()));
                $control = new ControlPage((new Folder($this->folder, $this->trustedOwner))->open('control'));
                if ($wasBehind || $this->published?->isOf($control)) {
                    $this->published = null; // too old even for the page before, or a copy with the same numbers but other files
                }
                $this->control = $control;
                $this->failed = $this->trouble = null;
            }
            $this->controlTrouble = null;
        } catch (Failure $failure) {
            $this->controlTrouble = $failure;
        }
    }

    private function followCurrent(int $wanted, bool $looks): void
    {
        if ($this->control === null) {
            return;
        }
        if ($wanted === 0) {
            $this->trouble = Failure::unreadable('nothing is published yet');
            return;
        }
        $isAttached = $this->published?->number === $wanted && $this->published->isOf($this->control);
        $mayAttach = $wanted !== $this->failed || ($looks && !$this->trouble->isForGood);
        $this->isBehind = !$isAttached && !($mayAttach && $this->attach($wanted)) && $this->isBehind($wanted);
    }

    /**
     * Keys are added to the current publication and to the one before it, to that one first. Older ones and those of another
     * control page miss them.
     */
    private function isBehind(int $current): bool
    {
        if ($this->published === null || $current === 0) {
            return false;
        }
        $isCurrentOrPrevious = in_array($this->published->number, [$current, $this->control->previous()], true);
        return !$isCurrentOrPrevious || !$this->published->isOf($this->control);
    }

    /** Its files may be gone again if a newer one has become current meanwhile. */
    private function attach(int $wanted): bool
    {
        for ($tries = 1;; ++$tries) {
            try {
                $this->published = new Published(new Folder($this->folder, $this->trustedOwner), $this->set, $this->control, $wanted);
                $this->failed = $this->trouble = null;
                return true;
            } catch (Failure $failure) {
                $now = ControlPage::publicationOf($this->control->current());
                if ($now !== $wanted && $tries < 3) {
                    $wanted = $now;
                    continue;
                }
                $this->trouble = $failure;
                $this->failed = $wanted;
                return false;
            }
        }
    }

    private function availabilityAt(int $now): Availability
    {
        if ($this->controlTrouble !== null) {
            return $this->controlTrouble->availability;
        }
        if ($this->published === null || $this->isBehind) {
            return $this->trouble?->availability ?? Availability::Missing;
        }
        if ($this->bypassedBy !== 0) {
            return Availability::Bypassed;
        }
        return $this->published->snapshot()->header->isExpiredAt($now) ? Availability::Expired : Availability::Ready;
    }
}
