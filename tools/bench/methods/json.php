<?php

// Figures and checks as tools/bench/README.md describes them.

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

function megabytes(int $bytes): string
{
    return $bytes < 50_000 ? '–' : three_digits($bytes / 1e6) . ' MB';
}

/** @return array{aim: string, wanted: string, measured: string, reached: bool} */
function at_most(string $aim, float $limit, float $measured): array
{
    return ['aim' => $aim, 'wanted' => "≤ $limit", 'measured' => three_digits($measured), 'reached' => $measured <= $limit];
}

/** @return array{aim: string, wanted: string, measured: string, reached: bool} */
function at_least(string $aim, float $limit, float $measured): array
{
    return ['aim' => $aim, 'wanted' => "≥ $limit", 'measured' => three_digits($measured), 'reached' => $measured >= $limit];
}

function version_of(string $command, string $pattern): string
{
    preg_match($pattern, shell_exec($command), $found);
    return $found[1];
}

/** Of an extension that this process need not have. */
function phpversion_of(string $extension): string
{
    $needed = ['redis' => ['igbinary'], 'memcached' => ['igbinary', 'msgpack']][$extension] ?? [];
    $options = implode(' ', array_map(fn (string $name): string => "-d extension=$name", [...$needed, $extension]));
    return shell_exec(PHP_BINARY . " -n $options -r \"echo phpversion('$extension');\"");
}

function sqlite_version(): string
{
    return shell_exec(PHP_BINARY . ' -n -d extension=sqlite3 -r "echo SQLite3::version()[\'versionString\'];"');
}
