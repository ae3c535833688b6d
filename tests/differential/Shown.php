<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Values as a finding prints them. */
final class Shown
{
    private const LONGEST = 400;

    public static function value(mixed $value): string
    {
        return self::cut(match (true) {
            is_string($value) => '"' . addcslashes(self::cut($value), "\0..\37\"\\\177..\377") . '"',
            is_array($value) => '[' . self::elements($value, array_is_list($value)) . ']',
            $value instanceof Text => 'a Stringable ' . self::value($value->text),
            $value instanceof ArrayOf => self::arrayOf($value),
            $value instanceof IfUnknown => "a callable for $value->result",
            is_object($value) => $value::class,
            default => var_export($value, true),
        });
    }

    /** @param array<mixed> $values */
    public static function elements(array $values, bool $isList = true): string
    {
        $shown = [];
        foreach (array_slice($values, 0, self::LONGEST, true) as $index => $value) {
            $shown[] = ($isList ? '' : self::value($index) . ' => ') . self::value($value);
        }
        return implode(', ', $shown);
    }

    private static function arrayOf(ArrayOf $array): string
    {
        $text = self::value($array->elements);
        foreach (['references at' => $array->references, 'without' => $array->removed] as $what => $places) {
            $text .= $places === [] ? '' : " $what " . self::value($places);
        }
        return $text;
    }

    private static function cut(string $text): string
    {
        return strlen($text) > self::LONGEST ? substr($text, 0, self::LONGEST) . '…' : $text;
    }
}
