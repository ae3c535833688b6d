<?php

declare(strict_types=1);

namespace KeySieve\Keys;

use KeySieve\Availability;
use KeySieve\InvalidNameException;
use KeySieve\Membership;
use KeySieve\Reader\Arguments;
use KeySieve\Set;

/**
 * A set that is asked with raw values, which its key function makes keys. A value that can be no key is absent while the set is Ready, because
 * no source has it.
 *
 *     $tags = new KeyedSet('tags', TagKey::class);
 *     $tags->mayContain(' Café ');
 */
final readonly class KeyedSet implements Membership
{
    public Set $set;

    /**
     * @param class-string<KeyFunction> $keys whose profile the set must have, or every answer is maybe
     * @param ?bool $throw as in Set
     * @throws InvalidNameException
     */
    public function __construct(string $name, private string $keys, ?bool $throw = null)
    {
        $this->set = new Set($name, $keys::profile(), $throw);
    }

    public function mayContain(string|int $key): bool
    {
        $key = $this->keys::of((string) $key);
        return $this->set->mayContain($key ?? '') && ($key !== null || $this->set->availability() !== Availability::Ready);
    }

    public function mayContainMany(iterable $keys): array
    {
        $asked = $noKeys = [];
        foreach (Arguments::keys(Arguments::given($keys, __METHOD__), __METHOD__) as $index => $value) {
            $key = $this->keys::of($value);
            $asked[$index] = $key ?? ''; // also for null, since the set may throw
            if ($key === null) {
                $noKeys[$index] = false;
            }
        }
        $answers = $this->set->mayContainMany($asked);
        return $noKeys !== [] && $this->set->availability() === Availability::Ready ? array_replace($answers, $noKeys) : $answers;
    }

    public function candidates(iterable $keys): array
    {
        $keys = Arguments::given($keys, __METHOD__);
        return array_intersect_key($keys, array_filter($this->mayContainMany($keys)));
    }
}
