<?php

// Sizes and versions of what is compared.

declare(strict_types=1);

require_once __DIR__ . '/../figures.php';

function megabytes(int $bytes): string
{
    return $bytes < 50_000 ? '–' : three_digits($bytes / 1e6) . ' MB';
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
