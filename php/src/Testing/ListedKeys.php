<?php

declare(strict_types=1);

namespace KeySieve\Testing;

use KeySieve\Build\SetSource;
use KeySieve\Build\WrongKeys;
use KeySieve\Keys\KeyFunction;
use KeySieve\Membership;
use KeySieve\Reader\Arguments;

/**
 * A set for the tests of your code: no files, no shared memory, just these keys. Give it a key that your database does not have to
 * see how your code handles a false positive.
 */
final class ListedKeys implements Membership
{
    /** @var array<true> by key */
    private array $listed = [];

    /**
     * @param array<string|int> $keys
     * @param ?class-string<KeyFunction> $function makes keys of raw values, both these and those that are asked, as in a KeyedSet
     * @throws WrongKeys if one of them can be no key
     */
    public function __construct(array $keys, private readonly ?string $function = null)
    {
        foreach ($keys as $key) {
            $this->listed[$this->key($key) ?? throw new WrongKeys("\"$key\" can be no key")] = true;
        }
    }

    /** All keys of a source, asked with raw values: what `keysieve:build` would make, in memory. */
    public static function of(SetSource $source): self
    {
        $values = [];
        foreach ($source->values() as $value) {
            $values[] = $value;
        }
        return new self($values, $source->keyFunction());
    }

    public function mayContain(string|int $key): bool
    {
        $key = $this->key($key);
        return $key !== null && isset($this->listed[$key]);
    }

    public function mayContainMany(iterable $keys): array
    {
        return array_map($this->mayContain(...), Arguments::keys(Arguments::given($keys, __METHOD__), __METHOD__));
    }

    public function candidates(iterable $keys): array
    {
        $keys = Arguments::given($keys, __METHOD__);
        return array_intersect_key($keys, array_filter(Arguments::keys($keys, __METHOD__), $this->mayContain(...)));
    }

    private function key(string|int $raw): string|int|null
    {
        return $this->function === null ? $raw : $this->function::of((string) $raw);
    }
}
