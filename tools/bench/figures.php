<?php

// Figures and checks of the benches, as README.md describes them.

declare(strict_types=1);

/** @param float[] $values */
function median(array $values): float
{
    sort($values);
    return ($values[intdiv(count($values) - 1, 2)] + $values[intdiv(count($values), 2)]) / 2;
}

function rounded(float $value): float
{
    return $value == 0 ? 0.0 : round($value, 2 - (int) floor(log10(abs($value))));
}

/** In three significant digits. */
function three_digits(float $value): string
{
    if ($value == 0) {
        return '0';
    }
    $decimals = max(0, 2 - (int) floor(log10(abs(rounded($value)))));
    return number_format(rounded($value), $decimals);
}

/** @return array{aim: string, wanted: string, measured: string, reached: bool} */
function at_most(string $aim, float $limit, float $measured, string $unit = ''): array
{
    return ['aim' => $aim, 'wanted' => "≤ $limit$unit", 'measured' => three_digits($measured) . $unit, 'reached' => $measured <= $limit];
}

/** @return array{aim: string, wanted: string, measured: string, reached: bool} */
function at_least(string $aim, float $limit, float $measured): array
{
    return ['aim' => $aim, 'wanted' => "≥ $limit", 'measured' => three_digits($measured), 'reached' => $measured >= $limit];
}
