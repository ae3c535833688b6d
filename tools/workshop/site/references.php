<?php

// Makes the references that need little more than reading a file. Settings in php.ini come from ext/settings.cpp, with the comments above
// them. The configuration of keysieved comes from the example that is shipped, and metrics from the sample that tests compare with what
// keysieved exports. The JSON that programs print comes from its schemas.

declare(strict_types=1);

function ini_page(string $source): string
{
    preg_match_all('~((?:^ *// .*\n)+) *PHP_INI_ENTRY(?:_EX)?\("([^"]+)", "([^"]*)", PHP_INI_SYSTEM~m', $source, $entries, PREG_SET_ORDER);
    $rows = array_map(static fn (array $entry): array => [
        "`$entry[2]`",
        "`$entry[3]`",
        trim(preg_replace('~\s*// ~', ' ', $entry[1])),
    ], $entries);
    return "# php.ini\n\nSettings are at the system level: php.ini, `conf.d/*.ini`, or `php_admin_value` of a php-fpm pool.\n\n"
        . table(['php.ini (system level)', 'default', 'meaning'], $rows);
}

function loader_page(string $example): string
{
    $page = "# keysieve.toml\n\n";
    $comment = [];
    foreach ([...explode("\n", $example), ''] as $line) {
        if (preg_match('/^# ?(?!\[|[a-z_]+ = )(.*)$/', $line, $found)) {
            $comment[] = $found[1];
            continue;
        }
        $text = prose(implode("\n", $comment));
        $comment = [];
        if (preg_match('/^#?(\[+[a-z].*)$/', $line, $found)) {
            $page .= "## $found[1]\n\n$text\n\n";
        } elseif (preg_match('/^#?([a-z_]+) = /', $line, $found)) {
            $page .= "### $found[1]\n\n$text\n\n" . code_block('toml', $line);
        } elseif ($text !== '') {
            $page .= "$text\n\n";
        }
    }
    return $page . "## The whole file\n\n" . code_block('toml', $example);
}

function metrics_page(string $sample): string
{
    $rows = [];
    foreach (preg_split('/^(?=# HELP )/m', $sample, flags: PREG_SPLIT_NO_EMPTY) as $family) {
        preg_match('/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)/', $family, $found);
        preg_match_all('/(\w+)="(.*?)"/', $family, $labels, PREG_SET_ORDER);
        $values = [];
        foreach ($labels as [, $label, $value]) {
            $values[$label][$value] = $value;
        }
        $rows[] = [code($found[1]), $found[3], implode('<br>', array_map(label(...), array_keys($values), $values)), prose($found[2])];
    }
    return "# Metrics of keysieved\n\n" . table(['metric', 'type', 'labels', 'meaning'], $rows);
}

/** Names of sets, stores and versions are the reader's own; states, troubles and reasons are always these. */
function label(string $label, array $values): string
{
    $is_open = in_array($label, ['set', 'store', 'version', 'le'], true);
    return code($label) . ($is_open ? '' : ': ' . implode(', ', array_map(code(...), $values)));
}

/** @param string[] $files */
function json_page(array $files): string
{
    $page = "# JSON of the command line\n\n";
    foreach ($files as $file) {
        $schema = json_decode(read_file($file), flags: JSON_THROW_ON_ERROR);
        $page .= "## $schema->title\n\n" . (isset($schema->description) ? prose($schema->description) . "\n\n" : '');
        foreach ($schema->allOf ?? [] as $part) {
            $page .= 'All members of [`' . basename($part->{'$ref'}, '.json') . "`](#a-snapshot), and:\n\n";
        }
        $page .= table(['member', 'type', ''], member_rows($schema));
    }
    return $page;
}

/** @return string[][] of the members, and of those within them */
function member_rows(object $schema, string $within = ''): array
{
    $rows = [];
    foreach ($schema->properties as $name => $member) {
        $needed = in_array($name, $schema->required ?? [], true);
        $rows[] = [code($within . $name), type_of($member) . ($needed ? '' : ', optional'), prose($member->description ?? '')];
        $inner = $member->items ?? $member;
        $suffix = isset($member->items) ? '[].' : '.';
        array_push($rows, ...(isset($inner->properties) ? member_rows($inner, $within . $name . $suffix) : []));
    }
    return $rows;
}

function type_of(object $schema): string
{
    if (isset($schema->enum)) {
        return implode(', ', array_map(static fn (?string $value): string => code($value ?? 'null'), $schema->enum));
    }
    return implode(' or ', (array) $schema->type) . (isset($schema->items) ? " of {$schema->items->type}s" : '');
}
