<?php

// Makes the reference of the programs from their --help.

declare(strict_types=1);

function command_line_page(string $programs): string
{
    $keysieve = help("$programs/keysieve");
    $verbs = array_column($keysieve['entries']['Subcommands'], 1, 0);
    $rows = array_map(static fn (string $verb): array => ["[`$verb`](#keysieve-$verb)", prose($verbs[$verb])], array_keys($verbs));
    $page = "# Command line\n\n" . code_block('text', $keysieve['text']) . table(['verb', ''], $rows) . closing_words($keysieve);
    foreach (array_keys($verbs) as $verb) {
        $page .= "## keysieve $verb\n\n" . described(help("$programs/keysieve", $verb));
    }
    return $page . "## keysieved\n\n" . described(help("$programs/keysieved"));
}

function described(array $help): string
{
    return prose($help['text']) . ".\n\n" . code_block('text', $help['usage']) . options($help) . closing_words($help);
}

function options(array $help): string
{
    $tables = '';
    foreach ($help['entries'] as $section => $entries) {
        $rows = array_map(static fn (array $entry): array => option_row(...$entry), $entries);
        $tables .= table([$section, ''], $rows);
    }
    return $tables;
}

/** @return string[] a term such as "--adds-overlap DURATION Excludes: --adds-from", and what it means */
function option_row(string $term, string $text): array
{
    $words = ['REQUIRED' => '', 'Excludes:' => ' Not with', 'Needs:' => ' Only with'];
    $notes = '';
    $parts = preg_split('/ (REQUIRED|Excludes:|Needs:)/', $term, flags: PREG_SPLIT_DELIM_CAPTURE);
    for ($index = 1; $index < count($parts); $index += 2) {
        $others = array_map(code(...), array_filter(explode(' ', $parts[$index + 1])));
        $notes .= $others === [] ? '' : $words[$parts[$index]] . ' ' . implode(', ', $others) . '.';
    }
    $is_required = in_array('REQUIRED', $parts, true);
    return [code($parts[0]), ($is_required ? '<b>Required.</b> ' : '') . prose($text) . ($notes === '' ? '' : ".$notes")];
}

function closing_words(array $help): string
{
    $examples = $help['examples'] === [] ? '' : code_block('bash', implode("\n", $help['examples']));
    return $examples . ($help['footer'] === '' ? '' : prose($help['footer']) . "\n\n");
}

/**
 * What a program prints as its help: description, "Usage: ...", sections of entries, examples, closing words.
 *
 * @return array{text: string, usage: string, entries: array<string, string[][]>, examples: string[], footer: string}
 */
function help(string $program, string ...$verb): array
{
    exec(implode(' ', array_map(escapeshellarg(...), [$program, ...$verb, '--help'])), $lines, $status);
    if ($status !== 0) {
        throw new RuntimeException("$program --help ended with $status");
    }
    $help = ['text' => '', 'usage' => '', 'entries' => [], 'examples' => [], 'footer' => ''];
    $section = null;
    foreach ($lines as $index => $line) {
        if (str_starts_with($line, 'Usage: ')) {
            $help['usage'] = substr($line, strlen('Usage: '));
        } elseif (preg_match('/^(\w+):$/', $line, $found)) {
            $section = $found[1];
        } elseif (preg_match('/^  \S/', $line)) {
            if ($section === 'Examples') {
                $help['examples'][] = substr($line, 2);
            } else {
                $help['entries'][$section][] = entry($line, $lines[$index + 1] ?? '');
            }
        } elseif (preg_match('/^\S/', $line)) {
            $place = $help['usage'] === '' ? 'text' : 'footer';
            $help[$place] .= ($help[$place] === '' ? '' : "\n") . $line;
        }
    }
    return $help;
}

/** A term takes 28 characters before its text, or a line of its own. */
function entry(string $line, string $next): array
{
    $has_own_line = str_starts_with($next, str_repeat(' ', 30));
    return $has_own_line ? [trim($line), trim($next)] : [trim(substr($line, 0, 30)), trim(substr($line, 30))];
}
