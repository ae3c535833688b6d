<?php

declare(strict_types=1);

namespace KeySieve\Reader;

use KeySieve\Availability;
use KeySieve\Info;
use KeySieve\InvalidNameException;
use KeySieve\UnavailableException;

/** A set that this process has asked: what answers for it, what it has answered, and what has been logged. */
final class AttachedSet
{
    /** Among what find() answers. */
    public const UNKNOWN = -1;

    private const CALLS_BETWEEN_LOOKS = 4096;

    /** @var array<string, self> */
    private static array $all = [];
    private static bool $hasSaidThatNothingIsConfigured = false;

    private ?Source $source;
    private int $process; // that has opened the source: a forked one has files of its own, whose positions nobody else moves
    private ?Publication $ready = null; // what answers, as of the last call
    private ?Failure $damage = null; // found while a shard was read
    private ?Snapshot $damaged = null;
    private ?\Closure $readAgain = null; // what has failed because of the damage
    private int $calls = 0;
    private int $lookedAt = -1;
    private int $answered = 0;
    private int $maybe = 0;
    private int $unavailable = 0;
    private Availability $loggedAvailability = Availability::Ready;
    private string $loggedReason = '';
    /** @var array<string, true> */
    private array $loggedMismatches = [];

    private function __construct(public readonly string $name)
    {
        $this->openSource();
    }

    private function openSource(): void
    {
        $this->process = self::ownProcess();
        $this->ready = null;
        $this->lookedAt = -1;
        try {
            $source = Settings::sourceOf($this->name);
        } catch (\InvalidArgumentException $wrong) {
            error_log("keysieve: {$wrong->getMessage()}: every lookup answers maybe");
            self::$hasSaidThatNothingIsConfigured = true;
        }
        $this->source = $source ?? null;
    }

    /** 0 if a host has disabled the function; none that does leaves PHP a way to fork. */
    private static function ownProcess(): int
    {
        return function_exists('getmypid') ? (int) getmypid() : 0;
    }

    /**
     * @param string $demand begins the message
     * @throws InvalidNameException
     */
    public static function named(string $name, string $demand): self
    {
        return self::$all[$name] ??= new self(SetName::checked($name, $demand));
    }

    /** @return array<string, array{calls: int, maybe: int, absent: int, unavailable: int}> */
    public static function counts(): array
    {
        return array_map(static fn (self $set): array => [
            'calls' => $set->calls,
            'maybe' => $set->maybe,
            'absent' => $set->answered - $set->maybe,
            'unavailable' => $set->unavailable,
        ], self::$all);
    }

    public static function beginRequest(): void
    {
        foreach (self::$all as $set) {
            $set->lookedAt = -1;
        }
    }

    /**
     * One answer for each key, all of one publication. $throws: null does what the setting says.
     *
     * @template TKey of array-key
     * @param array<TKey, string> $keys
     * @return array<TKey, bool>
     */
    public function ask(array $keys, ?string $keyProfile, ?bool $throws): array
    {
        ++$this->calls;
        $publication = $this->serving($keyProfile);
        if ($publication !== null) {
            try {
                $answers = self::answer($publication, $keys);
                $this->answered += count($keys);
                $this->maybe += (int) array_sum($answers);
                return $answers;
            } catch (Failure $damage) {
                $this->sayDamaged($damage, $publication, static fn () => self::answer($publication, $keys));
            }
        }
        return $this->giveUp($keys, $keyProfile, $throws);
    }

    /**
     * What a map says of each key: its value, null if it is absent, or self::UNKNOWN.
     *
     * @template TKey of array-key
     * @param array<TKey, string> $keys
     * @return array<TKey, ?int>
     */
    public function find(array $keys, ?string $keyProfile): array
    {
        ++$this->calls;
        $map = $this->serving($keyProfile, needsValues: true);
        if ($map !== null) {
            try {
                $answers = self::findIn($map, $keys);
                $this->answered += count($keys);
                $this->maybe += count($keys) - count(array_keys($answers, null, true));
                return $answers;
            } catch (Failure $damage) {
                $this->sayDamaged($damage, $map, static fn () => self::findIn($map, $keys));
            }
        }
        $this->countUnavailable(count($keys), $keyProfile, needsValues: true);
        return array_fill_keys(array_keys($keys), self::UNKNOWN);
    }

    public function availability(?string $keyProfile, bool $needsValues = false): Availability
    {
        return $this->serving($keyProfile, $needsValues) !== null ? Availability::Ready : $this->whyNotReady();
    }

    public function info(?string $keyProfile, bool $needsValues = false): ?Info
    {
        if (!Settings::isEnabled() || $this->source === null) {
            return null;
        }
        $this->serving($keyProfile);
        $publication = $this->source->publication();
        if ($publication === null) {
            return null;
        }
        try {
            return Info::of($publication, $this->trouble($keyProfile, $needsValues));
        } catch (Failure $damage) {
            $this->sayDamaged($damage, $publication, static fn (): Info => Info::of($publication, null));
            return null;
        }
    }

    /**
     * @template TKey of array-key
     * @param array<TKey, string> $keys
     * @return array<TKey, bool>
     * @throws Failure
     */
    private static function answer(Publication $publication, array $keys): array
    {
        $snapshot = $publication->snapshot();
        $hasher = $snapshot->header->hasher;
        $hasAdded = $publication->hasAdded();
        $answers = [];
        foreach ($keys as $index => $key) {
            $hash = $hasher->hash($key);
            $answers[$index] = $snapshot->mayContain($hash) || ($hasAdded && $publication->addedMayContain($hash));
        }
        return $answers;
    }

    /**
     * @template TKey of array-key
     * @param array<TKey, string> $keys
     * @return array<TKey, ?int>
     * @throws Failure
     */
    private static function findIn(Publication $map, array $keys): array
    {
        $snapshot = $map->snapshot();
        $hasher = $snapshot->header->hasher;
        $hasAdded = $map->hasAdded();
        $answers = [];
        foreach ($keys as $index => $key) {
            $hash = $hasher->hash($key);
            $answers[$index] = $hasAdded && $map->addedMayContain($hash) ? self::UNKNOWN : $snapshot->find($hash);
        }
        return $answers;
    }

    /** What answers in this call; null unless the set is Ready. */
    private function serving(?string $keyProfile, bool $needsValues = false): ?Publication
    {
        if (!Settings::isEnabled()) {
            return null;
        }
        if (self::ownProcess() !== $this->process) {
            $this->openSource();
        }
        $source = $this->source;
        if ($source === null) {
            $this->sayThatNothingIsConfigured();
            return null;
        }
        $now = time();
        $looks = $now !== $this->lookedAt || $this->calls % self::CALLS_BETWEEN_LOOKS === 0;
        if ($looks) {
            $this->lookedAt = $now;
        }
        if ($source->follow($now, $looks)) {
            if ($this->damage !== null && !$this->isStillDamaged($looks)) {
                $this->damage = $this->damaged = $this->readAgain = null;
            }
            $this->logChange();
            $this->ready = $this->state() === Availability::Ready ? $source->publication() : null;
        }
        return $this->mismatch($this->ready, $keyProfile, $needsValues) === null ? $this->ready : null;
    }

    private function state(): Availability
    {
        return $this->damage->availability ?? $this->source?->availability() ?? Availability::Missing;
    }

    private function reason(): string
    {
        return $this->damage?->getMessage() ?? $this->source?->reason() ?? 'no source is configured';
    }

    private function whyNotReady(): Availability
    {
        if (!Settings::isEnabled()) {
            return Availability::Disabled;
        }
        return $this->state() === Availability::Ready ? Availability::Incompatible : $this->state();
    }

    /**
     * @template TKey of array-key
     * @param array<TKey, string> $keys
     * @return array<TKey, true>
     */
    private function giveUp(array $keys, ?string $keyProfile, ?bool $throws): array
    {
        $mismatch = $this->countUnavailable(count($keys), $keyProfile, needsValues: false);
        $availability = $this->whyNotReady();
        $isSwitchedOff = $availability === Availability::Bypassed || $availability === Availability::Disabled;
        if (($throws ?? Settings::throwsWhenUnavailable()) && !$isSwitchedOff) {
            $reason = $mismatch === null ? "is {$this->state()->value} ({$this->reason()})" : "was $mismatch";
            throw new UnavailableException($this->name, $availability, "set \"$this->name\" $reason");
        }
        return array_fill_keys(array_keys($keys), true);
    }

    /** Returns why the set, though it is Ready, is not what an object needs. */
    private function countUnavailable(int $keys, ?string $keyProfile, bool $needsValues): ?string
    {
        $this->unavailable += $keys;
        $mismatch = Settings::isEnabled() ? $this->mismatch($this->ready, $keyProfile, $needsValues) : null;
        if ($mismatch !== null && !isset($this->loggedMismatches[$mismatch])) {
            $this->loggedMismatches[$mismatch] = true;
            error_log("keysieve: set \"$this->name\" was $mismatch: every such lookup " . ($needsValues ? 'is unknown' : 'answers maybe'));
        }
        return $mismatch;
    }

    private function trouble(?string $keyProfile, bool $needsValues): ?string
    {
        return $this->mismatch($this->ready, $keyProfile, $needsValues) ?? ($this->reason() === '' ? null : $this->reason());
    }

    /** How what is attached differs from what an object needs. */
    private function mismatch(?Publication $ready, ?string $keyProfile, bool $needsValues): ?string
    {
        $header = $ready?->snapshot()->header;
        return match (true) {
            $header === null => null,
            $keyProfile !== null && $header->fields['keyProfile'] !== $keyProfile => "built with key profile \"{$header->fields['keyProfile']}\", not \"$keyProfile\"",
            $needsValues && $header->fields['valueBits'] === 0 => 'built without values',
            default => null,
        };
    }

    private function logChange(): void
    {
        [$availability, $reason] = [$this->state(), $this->reason()];
        if ($availability === $this->loggedAvailability && $reason === $this->loggedReason) {
            return;
        }
        $wasReady = $this->loggedAvailability === Availability::Ready;
        [$this->loggedAvailability, $this->loggedReason] = [$availability, $reason];
        error_log("keysieve: set \"$this->name\" " . match (true) {
            $availability !== Availability::Ready => "is $availability->value ($reason): every lookup answers maybe",
            $reason !== '' => "keeps its old publication: $reason",
            default => 'is ' . ($wasReady ? 'up to date' : 'ready') . ' again',
        });
    }

    /** From now on every answer is maybe, until there is another snapshot or, unless bytes are damaged, what has failed can be read. */
    private function sayDamaged(Failure $damage, Publication $publication, \Closure $readAgain): void
    {
        [$this->damage, $this->damaged, $this->readAgain] = [$damage, $publication->snapshot(), $readAgain];
        $this->ready = null;
        $this->logChange();
    }

    private function isStillDamaged(bool $looks): bool
    {
        if ($this->source?->publication()?->snapshot() !== $this->damaged) {
            return false;
        }
        if ($this->damage?->isForGood === true || !$looks) {
            return true;
        }
        try {
            $this->readAgain?->__invoke();
            return false;
        } catch (Failure $damage) {
            $this->damage = $damage;
            return true;
        }
    }

    private function sayThatNothingIsConfigured(): void
    {
        if (!self::$hasSaidThatNothingIsConfigured) {
            self::$hasSaidThatNothingIsConfigured = true;
            error_log('keysieve: neither the extension nor KEYSIEVE_SOURCE is there: every lookup answers maybe');
        }
    }
}
