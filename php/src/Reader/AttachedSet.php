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

    /** How many names, and how many mismatches of each set, a process remembers: both may come from input. */
    private const MOST = 1_024;

    /** Among what answers() says of a map. */
    public const UNKNOWN = -1;

    /** @var array<string, self> */
    private static array $all = [];
    private static string $said = ''; // about the source, as it was logged

    private SnapshotFile|PublishedSet|null $source = null;
    private int $process = -1; // that has opened the source: a forked one has files of its own, whose positions nobody else moves
    private ?Snapshot $ready = null; // what answers, as of the last call
    private int $lookedAt = -1;
    /** @var array{calls: int, maybe: int, absent: int, unavailable: int} as stats() has them */
    private array $counts = ['calls' => 0, 'maybe' => 0, 'absent' => 0, 'unavailable' => 0];
    /** @var array{?string, string} why() as it was logged */
    private array $logged = [null, ''];
    /** @var array<string, true> what is past MOST is not logged */
    private array $loggedMismatches = [];

    private function __construct(public readonly string $name)
    {
    }

    private function openSource(int $process): void
    {
        $this->process = $process;
        $this->ready = $this->source = null;
        $this->lookedAt = -1;
        try {
            $this->source = Settings::sourceOf($this->name);
        } catch (\InvalidArgumentException $wrong) {
            if (self::$said !== $wrong->getMessage()) {
                self::$said = $wrong->getMessage();
                error_log('keysieve: ' . self::$said . ': every lookup answers maybe');
            }
        }
    }

    /**
     * Before there are more than MOST, all that were not ready go. An object finds its set by name again.
     *
     * @param string $demand begins the message
     * @throws InvalidNameException
     */
    public static function named(string $name, string $demand): self
    {
        if (!isset(self::$all[$name])) {
            if (count(self::$all) >= self::MOST) {
                self::$all = array_filter(self::$all, static fn (self $set): bool => $set->ready !== null);
            }
            self::$all[$name] = new self(preg_match(self::NAMES, $name) === 1 ? $name : Arguments::setName($name, $demand));
        }
        return self::$all[$name];
    }

    /** @return array<string, array{calls: int, maybe: int, absent: int, unavailable: int}> */
    public static function counts(): array
    {
        return array_map(static fn (self $set): array => $set->counts, self::$all);
    }

    public static function beginRequest(): void
    {
        foreach (self::$all as $set) {
            $set->lookedAt = -1;
        }
    }

    /**
     * One answer for each key, all of one snapshot: whether the set may contain it. In a map: its value, null if it is absent, or self::UNKNOWN.
     *
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @param string $method for messages about these
     * @param ?bool $throws while the set is unavailable; null: as the setting says
     * @return ($isMap is true ? array<TKey, ?int> : array<TKey, bool>)
     * @throws \TypeError for an element that is no key; then nothing was asked
     * @throws UnavailableException
     */
    public function answers(array $keys, string $method, ?string $keyProfile, ?bool $throws, bool $isMap = false): array
    {
        $snapshot = $this->serving($keyProfile, $isMap);
        try {
            $answers = self::answer($snapshot, $keys, $method, $isMap);
        } catch (Failure $damage) {
            $this->sayDamaged($damage, $snapshot);
            if ($this->ready !== null) { // another has taken its place meanwhile
                return $this->answers($keys, $method, $keyProfile, $throws, $isMap);
            }
            $snapshot = null;
            $answers = self::answer(null, $keys, $method, $isMap);
        }
        ++$this->counts['calls'];
        if ($snapshot !== null) {
            $absent = count(array_keys($answers, $isMap ? null : false, true));
            $this->counts['absent'] += $absent;
            $this->counts['maybe'] += count($keys) - $absent;
            return $answers;
        }
        $this->counts['unavailable'] += count($keys);
        $mismatch = Settings::isEnabled() ? $this->mismatch($keyProfile, $isMap) : null;
        if ($mismatch !== null && count($this->loggedMismatches) < self::MOST && !isset($this->loggedMismatches[$mismatch])) {
            $this->loggedMismatches[$mismatch] = true;
            error_log("keysieve: set \"$this->name\" was $mismatch: every such lookup " . ($isMap ? 'is unknown' : 'answers maybe'));
        }
        if ($throws ?? Settings::throwsWhenUnavailable()) {
            $this->throwUnlessSwitchedOff($mismatch);
        }
        return $answers;
    }

    /** @throws UnavailableException */
    private function throwUnlessSwitchedOff(?string $mismatch): void
    {
        $availability = $this->whyNotReady();
        if ($availability !== Availability::Bypassed && $availability !== Availability::Disabled) {
            $reason = $mismatch === null ? "is $availability->value ({$this->why()[1]})" : "was $mismatch";
            throw new UnavailableException($this->name, $availability, "set \"$this->name\" $reason");
        }
    }

    public function availability(?string $keyProfile, bool $isMap = false): Availability
    {
        return $this->serving($keyProfile, $isMap) !== null ? Availability::Ready : $this->whyNotReady();
    }

    public function info(?string $keyProfile, bool $isMap = false): ?Info
    {
        $this->serving($keyProfile, $isMap);
        $snapshot = Settings::isEnabled() ? $this->source?->snapshot : null;
        if ($snapshot === null) {
            return null;
        }
        try {
            $trouble = $this->mismatch($keyProfile, $isMap) ?? $this->why()[1];
            return Info::of($snapshot, $this->source instanceof PublishedSet ? $this->source->lastConfirmedAt() : 0, $trouble === '' ? null : $trouble);
        } catch (Failure $damage) {
            $this->sayDamaged($damage, $snapshot);
            return null;
        }
    }

    /**
     * @template TKey of array-key
     * @param array<TKey, mixed> $keys
     * @return ($isMap is true ? array<TKey, ?int> : array<TKey, bool>)
     * @throws Failure|\TypeError
     */
    private static function answer(?Snapshot $snapshot, array $keys, string $method, bool $isMap): array
    {
        $unknown = $isMap ? self::UNKNOWN : true;
        $answers = [];
        if ($snapshot === null) {
            foreach ($keys as $index => $key) {
                $answers[$index] = is_string($key) || is_int($key) ? $unknown : throw Arguments::noKey($key, $index, $method);
            }
            return $answers;
        }
        $added = ($snapshot->live?->addedKeys() ?? 0) === 0 ? null : $snapshot->live;
        $answers = $snapshot->answers($keys, $method, $isMap);
        if ($added !== null) {
            foreach ($answers as $index => $answer) {
                /** @var string|int $key */
                $key = $keys[$index];
                $isAdded = $answer !== true && $added->mayContain($snapshot->hash((string) $key));
                $answers[$index] = $isAdded ? $unknown : $answer;
            }
        }
        return $answers;
    }

    /** What answers in this call; null unless the set is Ready. */
    private function serving(?string $keyProfile, bool $isMap = false): ?Snapshot
    {
        if (!Settings::isEnabled()) {
            return null;
        }
        $process = function_exists('getmypid') ? (int) getmypid() : 0; // a host that disables this leaves PHP no way to fork
        if ($process !== $this->process) {
            $this->openSource($process);
        }
        $now = time();
        $looks = $now !== $this->lookedAt;
        $this->lookedAt = $now;
        $source = $this->source;
        if ($source !== null && $source->follow($now, $looks)) {
            $this->logChange();
            $snapshot = $source->snapshot;
            if ($looks && $snapshot !== null && $snapshot->damage?->isForGood === false) {
                $snapshot->damage = null; // what could not be read is tried again
            }
            $this->ready = $this->why()[0] === null ? $snapshot : null;
        }
        return $this->mismatch($keyProfile, $isMap) === null ? $this->ready : null;
    }

    /** @return array{?string, string} as SnapshotFile::$why, whatever an object needs */
    private function why(): array
    {
        return $this->source?->snapshot?->damage?->why() ?? $this->source->why ?? ['missing', 'no source is configured'];
    }

    private function whyNotReady(): Availability
    {
        return Settings::isEnabled() ? Availability::from($this->why()[0] ?? 'incompatible') : Availability::Disabled;
    }

    /** How what is attached differs from what an object needs. */
    private function mismatch(?string $keyProfile, bool $isMap): ?string
    {
        $fields = $this->ready?->fields;
        return match (true) {
            $fields === null => null,
            $keyProfile !== null && $fields['keyProfile'] !== $keyProfile
                => "built with key profile \"{$fields['keyProfile']}\", not \"" . substr($keyProfile, 0, 80) . '"', // a set has none so long
            $isMap && $fields['valueBits'] === 0 => 'built without values',
            default => null,
        };
    }

    private function logChange(): void
    {
        [$before, $this->logged] = [$this->logged, $this->why()];
        if ($this->logged === $before) {
            return;
        }
        [$state, $reason] = $this->logged;
        error_log("keysieve: set \"$this->name\" " . match (true) {
            $state !== null => "is $state ($reason): every lookup answers maybe",
            $reason !== '' => "keeps its old publication: $reason",
            default => 'is ' . ($before[0] === null ? 'up to date' : 'ready') . ' again',
        });
    }

    /** From now on every answer is maybe, until there is another snapshot or, unless bytes are damaged, what has failed can be read. */
    private function sayDamaged(Failure $damage, ?Snapshot $snapshot): void
    {
        if ($snapshot !== null) {
            $snapshot->damage = $damage;
        }
        if ($this->ready === $snapshot) {
            $this->ready = null;
        }
        $this->logChange();
    }
}
