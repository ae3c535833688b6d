<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Says where two answers differ. */
final class Comparison
{
    /**
     * @param array<mixed> $extension
     * @param array<mixed> $package
     * @return ?string where they differ first, and how; null: they are the same
     */
    public static function difference(array $extension, array $package): ?string
    {
        if (isset($extension['returned']) !== isset($package['returned'])) {
            return Shown::value($extension) . ' and ' . Shown::value($package);
        }
        return self::firstDifference($extension, $package, '');
    }

    private static function firstDifference(mixed $one, mixed $other, string $at): ?string
    {
        if ($one === $other) {
            return null;
        }
        if (!is_array($one) || !is_array($other)) {
            return "$at: " . Shown::value($one) . ' and ' . Shown::value($other);
        }
        foreach ($one + $other as $index => $value) {
            if (!array_key_exists($index, $one) || !array_key_exists($index, $other)) {
                $which = array_key_exists($index, $one) ? 'extension' : 'package';
                return "$at/$index: only the $which has it, " . Shown::value($value);
            }
            $difference = self::firstDifference($one[$index], $other[$index], "$at/$index");
            if ($difference !== null) {
                return $difference;
            }
        }
        return "$at: in another order";
    }
}
