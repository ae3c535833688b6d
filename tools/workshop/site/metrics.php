<?php

// Makes the reference of metrics from the sample that the tests of keysieved compare with what it exports.

declare(strict_types=1);

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
