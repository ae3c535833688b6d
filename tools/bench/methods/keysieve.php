<?php

// keysieve, in its three calls.

declare(strict_types=1);

require_once __DIR__ . '/method.php';

abstract class Keysieve extends Method
{
    protected readonly KeySieve\Set $set;

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->set = new KeySieve\Set("keys-{$place->count}");
        if ($this->set->availability() !== KeySieve\Availability::Ready) {
            throw new RuntimeException('keysieve is not ready');
        }
    }

    public function sharedBytes(): int
    {
        return $this->set->info()->sizeBytes;
    }
}

final class KeysieveSingle extends Keysieve
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if ($this->set->mayContain($key)) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

final class KeysieveBatch extends Keysieve
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            $found += array_sum($this->set->mayContainMany($keys));
        }
        return $found;
    }
}

final class KeysieveCandidates extends Keysieve
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            $found += count($this->set->candidates($keys));
        }
        return $found;
    }
}
