<?php

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Arguments;
use KeySieve\Reader\Settings;

if (!class_exists(SeenSet::class, false)) { // see bootstrap.php
    /**
     * A seen set where the extension is not loaded. It is never Ready, because PHP code has no atomic operations in shared memory. Its
     * answers follow KEYSIEVE_SEEN_ON_UNAVAILABLE in the environment, or Reader\Settings::answerSeenSets(): `new` (every key is new),
     * `seen` (every key was seen) or, by default, `throw`. With keysieve.enabled=0 nothing throws.
     */
    final readonly class SeenSet implements SeenKeys, \Serializable
    {
        use NotSerializable;

        /** @throws InvalidNameException as Set::__construct() */
        public function __construct(public readonly string $name)
        {
            Arguments::setName($name, __METHOD__ . '(): Argument #1 ($name) must be');
        }

        /**
         * @param string|int $key
         * @throws UnavailableException as the class says
         */
        public function addIfNew(string|int|float $key): bool
        {
            return $this->isNew();
        }

        /**
         * @template TKey of array-key
         * @phpstan-param iterable<TKey, string|int> $keys
         * @phpstan-return array<TKey, bool>
         * @throws UnavailableException as the class says
         */
        public function addManyIfNew(iterable $keys): array
        {
            return array_map(fn (string $_): bool => $this->isNew(), Arguments::keys(Arguments::given($keys, __METHOD__), __METHOD__));
        }

        /**
         * True: maybe.
         *
         * @param string|int $key
         * @throws UnavailableException when addIfNew() would
         */
        public function mayContain(string|int|float $key): bool
        {
            $this->isNew(); // which throws if it must
            return true;
        }

        /** Missing, and logs once why; or Disabled. */
        public function availability(): Availability
        {
            if (!Settings::isEnabled()) {
                return Availability::Disabled;
            }
            /** @var array<string, true> $logged */
            static $logged = [];
            if (!isset($logged[$this->name])) {
                $logged[$this->name] = true;
                $answer = Settings::seenOnUnavailable();
                error_log("keysieve: {$this->reason()}: every " . ($answer === 'throw' ? 'call throws' : "key is $answer"));
            }
            return Availability::Missing;
        }

        /** Null, since it is never Ready. */
        public function info(): ?SeenInfo
        {
            return null;
        }

        /** @throws UnavailableException */
        private function isNew(): bool
        {
            $answer = Settings::seenOnUnavailable();
            if ($this->availability() !== Availability::Disabled && $answer === 'throw') {
                throw new UnavailableException($this->name, Availability::Missing, $this->reason());
            }
            return $answer !== 'seen';
        }

        private function reason(): string
        {
            return "seen set \"$this->name\" is missing (only the extension has seen sets; KEYSIEVE_SEEN_ON_UNAVAILABLE=new or =seen answers without it)";
        }
    }
}
