<?php

// Files and Markdown for the pages of the site.

declare(strict_types=1);

function read_file(string $path): string
{
    $text = @file_get_contents($path);
    return $text !== false ? $text : throw new RuntimeException("$path: " . error_get_last()['message']);
}

function write_file(string $path, string $text): void
{
    $folder = dirname($path);
    if ((!is_dir($folder) && !mkdir($folder, recursive: true)) || file_put_contents($path, $text) === false) {
        throw new RuntimeException("$path: cannot be written");
    }
}

/** Plain text: Markdown's special characters are escaped. */
function literal(string $text): string
{
    $escapes = ['|' => '&#124;', '*' => '&#42;', '_' => '&#95;', '[' => '&#91;', ']' => '&#93;', '`' => '&#96;'];
    return strtr(htmlspecialchars($text, ENT_NOQUOTES), $escapes);
}

function code(string $text): string
{
    return '<code>' . literal($text) . '</code>';
}

/** Plain text of a source, in which `...` is code. */
function prose(string $text): string
{
    $pieces = explode('`', $text);
    foreach ($pieces as $index => $piece) {
        $pieces[$index] = $index % 2 === 1 ? code($piece) : literal($piece);
    }
    return implode('', $pieces);
}

/** @param string[][] $rows */
function table(array $header, array $rows): string
{
    $lines = [implode(' | ', $header), implode(' | ', array_fill(0, count($header), '---'))];
    foreach ($rows as $row) {
        $lines[] = implode(' | ', $row);
    }
    return implode('', array_map(static fn (string $line): string => "| $line |\n", $lines)) . "\n";
}

function code_block(string $language, string $code): string
{
    return "```$language\n" . rtrim($code) . "\n```\n\n";
}
