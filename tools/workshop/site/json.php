<?php

// Makes the reference of what the programs print as JSON from its schemas.

declare(strict_types=1);

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
