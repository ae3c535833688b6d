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
    public const NAMES = '/\A[a-z0-9][a-z0-9_-]{0,63}\z/';

    /** Among what find() answers. */
    public const UNKNOWN = -1;

    private const CALLS_BETWEEN_LOOKS = 4096;

    /** @var array<string, self> */
    private static array $all = [];
    private static bool $hasSaidThatNothingIsConfigured = false;

    private SnapshotFile|PublishedSet|null $source;
    private int $process; // that has opened the source: a forked one has files of its own, whose positions nobody else moves
    private ?Snapshot $ready = null; // what answers, as of the last call
    private ?Failure $damage = null; // found while a shard was read
    private ?Snapshot $damaged = null;
    private ?\Closure $readAgain = null; // what has failed because of the damage
    private int $calls = 0;
    private int $lookedAt = -1;
    private int $answered = 0;
    private int $maybe = 0;
    private int $unavailable = 0;
    /** @var array{?Availability, string} why the set does not answer, or an older snapshot does, as it was logged */
    private array $logged = [null, ''];
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
        if (!isset(self::$all[$name])) {
            self::$all[$name] = new self(preg_match(self::NAMES, $name) === 1 ? $name : Arguments::setName($name, $demand));
        }
        return self::$all[$name];
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
     * One answer for each key, all of one snapshot. $throws: null does what the setting says.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @param string $method for messages about these
     * @return array<TKey, bool>
     * @throws \TypeError for an element that is no key; then nothing was asked
     */
    public function ask(array $keys, string $method, ?string $keyProfile, ?bool $throws): array
    {
        $answers = $this->answers($keys, $method, $keyProfile, isMap: false);
        if ($answers !== null) {
            return $answers;
        }
        $availability = $this->whyNotReady();
        $isSwitchedOff = $availability === Availability::Bypassed || $availability === Availability::Disabled;
        if (($throws ?? Settings::throwsWhenUnavailable()) && !$isSwitchedOff) {
            $mismatch = $this->mismatch($keyProfile, false);
            $reason = $mismatch === null ? "is $availability->value ({$this->reason()})" : "was $mismatch";
            throw new UnavailableException($this->name, $availability, "set \"$this->name\" $reason");
        }
        return array_fill_keys(array_keys($keys), true);
    }

    /**
     * What a map says of each key: its value, null if it is absent, or self::UNKNOWN.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return array<TKey, ?int>
     * @throws \TypeError as ask()
     */
    public function find(array $keys, string $method, ?string $keyProfile): array
    {
        return $this->answers($keys, $method, $keyProfile, isMap: true) ?? array_fill_keys(array_keys($keys), self::UNKNOWN);
    }

    public function availability(?string $keyProfile, bool $isMap = false): Availability
    {
        return $this->serving($keyProfile, $isMap) !== null ? Availability::Ready : $this->whyNotReady();
    }

    public function info(?string $keyProfile, bool $isMap = false): ?Info
    {
        $this->serving($keyProfile);
        $snapshot = Settings::isEnabled() ? $this->source?->snapshot() : null;
        if ($snapshot === null) {
            return null;
        }
        try {
            $trouble = $this->mismatch($keyProfile, $isMap) ?? $this->reason();
            return Info::of($snapshot, $trouble === '' ? null : $trouble);
        } catch (Failure $damage) {
            $this->sayDamaged($damage, $snapshot, static fn (): Info => Info::of($snapshot, null));
            return null;
        }
    }

    /**
     * What ask() or find() returns, counted; null: the set is not Ready, or not what the object needs, which is logged once.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return ($isMap is true ? array<TKey, ?int>|null : array<TKey, bool>|null)
     */
    private function answers(array $keys, string $method, ?string $keyProfile, bool $isMap): ?array
    {
        $snapshot = $this->serving($keyProfile, $isMap);
        $answers = null;
        if ($snapshot !== null) {
            try {
                $answers = self::answer($snapshot, $keys, $method, $isMap);
            } catch (Failure $damage) {
                $this->sayDamaged($damage, $snapshot, static fn () => self::answer($snapshot, $keys, $method, $isMap));
            }
        }
        if ($answers !== null) {
            $absent = count(array_keys($answers, $isMap ? null : false, true));
            [$this->answered, $this->maybe] = [$this->answered + count($keys), $this->maybe + count($keys) - $absent];
        } else {
            Arguments::keys($keys, $method);
            $this->unavailable += count($keys);
            $mismatch = Settings::isEnabled() ? $this->mismatch($keyProfile, $isMap) : null;
            if ($mismatch !== null && !isset($this->loggedMismatches[$mismatch])) {
                $this->loggedMismatches[$mismatch] = true;
                error_log("keysieve: set \"$this->name\" was $mismatch: every such lookup " . ($isMap ? 'is unknown' : 'answers maybe'));
            }
        }
        ++$this->calls;
        return $answers;
    }

    /**
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return ($isMap is true ? array<TKey, ?int> : array<TKey, bool>)
     * @throws Failure|\TypeError
     */
    private static function answer(Snapshot $snapshot, array $keys, string $method, bool $isMap): array
    {
        $hasAdded = $snapshot->addedKeys() !== 0;
        $answers = [];
        foreach ($keys as $index => $key) {
            $hash = $snapshot->hash(is_string($key) || is_int($key) ? (string) $key : throw Arguments::noKey($key, $index, $method));
            $answers[$index] = $isMap
                ? ($hasAdded && $snapshot->addedMayContain($hash) ? self::UNKNOWN : $snapshot->find($hash))
                : $snapshot->mayContain($hash) || ($hasAdded && $snapshot->addedMayContain($hash));
        }
        return $answers;
    }

    /** What answers in this call; null unless the set is Ready. */
    private function serving(?string $keyProfile, bool $isMap = false): ?Snapshot
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
        $looks = $now !== $this->lookedAt || $this->calls % self::CALLS_BETWEEN_LOOKS === self::CALLS_BETWEEN_LOOKS - 1;
        if ($looks) {
            $this->lookedAt = $now;
        }
        if ($source->follow($now, $looks)) {
            if ($this->damage !== null && !$this->isStillDamaged($looks)) {
                $this->damage = $this->damaged = $this->readAgain = null;
            }
            $this->logChange();
            $this->ready = $this->why() === null ? $source->snapshot() : null;
        }
        return $this->mismatch($keyProfile, $isMap) === null ? $this->ready : null;
    }

    /** Why every answer is maybe, whatever an object needs; null: the set is Ready, or is just being attached. */
    private function why(): ?Failure
    {
        return $this->damage ?? $this->source?->unavailable();
    }

    private function reason(): string
    {
        return $this->source === null ? 'no source is configured' : (string) ($this->why() ?? $this->source->trouble())?->getMessage();
    }

    private function whyNotReady(): Availability
    {
        if (!Settings::isEnabled()) {
            return Availability::Disabled;
        }
        return $this->why()->availability ?? ($this->source?->snapshot() === null ? Availability::Missing : Availability::Incompatible);
    }

    /** How what is attached differs from what an object needs. */
    private function mismatch(?string $keyProfile, bool $isMap): ?string
    {
        $fields = $this->ready?->fields;
        return match (true) {
            $fields === null => null,
            $keyProfile !== null && $fields['keyProfile'] !== $keyProfile => "built with key profile \"{$fields['keyProfile']}\", not \"$keyProfile\"",
            $isMap && $fields['valueBits'] === 0 => 'built without values',
            default => null,
        };
    }

    private function logChange(): void
    {
        $before = $this->logged;
        $this->logged = [$this->why()?->availability, $this->reason()];
        if ($this->logged === $before) {
            return;
        }
        [$availability, $reason] = $this->logged;
        error_log("keysieve: set \"$this->name\" " . match (true) {
            $availability !== null => "is $availability->value ($reason): every lookup answers maybe",
            $reason !== '' => "keeps its old publication: $reason",
            default => 'is ' . ($before[0] === null ? 'up to date' : 'ready') . ' again',
        });
    }

    /** From now on every answer is maybe, until there is another snapshot or, unless bytes are damaged, what has failed can be read. */
    private function sayDamaged(Failure $damage, Snapshot $snapshot, \Closure $readAgain): void
    {
        [$this->damage, $this->damaged, $this->readAgain] = [$damage, $snapshot, $readAgain];
        $this->ready = null;
        $this->logChange();
    }

    private function isStillDamaged(bool $looks): bool
    {
        if ($this->source?->snapshot() !== $this->damaged) {
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
