<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Says where two answers differ, and shows values in one line. */
final class Comparison
{
    private const LONGEST = 400;

    /** @return ?string where the answers of extension and package differ first, and how; null: they are the same */
    public static function difference(mixed $one, mixed $other, string $at = ''): ?string
    {
        if ($one === $other) {
            return null;
        }
        if (!is_array($one) || !is_array($other)) {
            return "$at: " . self::shown($one) . ' and ' . self::shown($other);
        }
        foreach ($one + $other as $index => $value) {
            if (!array_key_exists($index, $one) || !array_key_exists($index, $other)) {
                $which = array_key_exists($index, $one) ? 'extension' : 'package';
                return "$at/$index: only the $which has it, " . self::shown($value);
            }
            $difference = self::difference($one[$index], $other[$index], "$at/$index");
            if ($difference !== null) {
                return $difference;
            }
        }
        return "$at: in another order";
    }

    public static function shown(mixed $value): string
    {
        $text = addcslashes(preg_replace('/\n */', ' ', var_export($value, true)), "\0..\37\177..\377");
        return strlen($text) > self::LONGEST ? substr($text, 0, self::LONGEST) . '…' : $text;
    }
}
