<?php

// APCu with an entry for each key.

declare(strict_types=1);

require_once __DIR__ . '/method.php';

abstract class Apcu extends Method
{
    public static function fill(Place $place): void
    {
        foreach (keys_by_thousand($place->count) as $keys) {
            if (apcu_store(array_fill_keys($keys, true)) !== []) {
                throw new RuntimeException('APCu is full');
            }
        }
    }

    public function sharedBytes(): int
    {
        $memory = apcu_sma_info(true);
        return (int) ($memory['num_seg'] * $memory['seg_size'] - $memory['avail_mem']);
    }
}

class ApcuSingle extends Apcu
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if (apcu_exists($key)) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

class ApcuArray extends Apcu
{
    public function ask(array $pages): int
    {
        $found = 0;
        foreach ($pages as $keys) {
            $found += count(apcu_exists($keys));
        }
        return $found;
    }
}

/** The same; these are started with the default of apc.entries_hint. */
final class ApcuSingleDefault extends ApcuSingle
{
}

final class ApcuArrayDefault extends ApcuArray
{
}
