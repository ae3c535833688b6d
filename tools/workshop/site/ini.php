<?php

// Makes the reference of the settings in php.ini from the entries in ext/settings.cpp and the comments above them.

declare(strict_types=1);

function ini_page(string $source): string
{
    return "# php.ini\n\nSettings are at the system level: php.ini, `conf.d/*.ini`, or `php_admin_value` of a php-fpm pool.\n\n"
        . ini_table($source);
}

function ini_table(string $source): string
{
    preg_match_all('~((?:^ *// .*\n)+) *PHP_INI_ENTRY(?:_EX)?\("([^"]+)", "([^"]*)", PHP_INI_SYSTEM~m', $source, $entries, PREG_SET_ORDER);
    $rows = array_map(static fn (array $entry): array => [
        "`$entry[2]`",
        "`$entry[3]`",
        trim(preg_replace('~\s*// ~', ' ', $entry[1])),
    ], $entries);
    return table(['php.ini (system level)', 'default', 'meaning'], $rows);
}
