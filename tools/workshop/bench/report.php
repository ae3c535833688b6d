<?php

// Fills in the page of all benches: php report.php PAGE RESULTS PART... Between "<!-- begin PART WHAT... -->" and "<!-- end
// PART -->" it puts the contents of RESULTS/PART.json: tables, plots, settings. gnuplot draws the plots into the
// folder next to the page that has its name. A part without results is named in its place; parts that are not given stay. Each
// says by which processor it was measured, since the page may describe another machine.

declare(strict_types=1);

require __DIR__ . '/plots.php';

[, $page, $results] = $argv;
$parts = array_slice($argv, 3);
$folder = preg_replace('/\.md$/', '', $page);
$machine = json_decode(file_get_contents("$results/machine.json"), true, flags: JSON_THROW_ON_ERROR);
$processor = preg_replace('/^Processor: |,.*$/', '', $machine['settings'][0]);

function row(array $cells): string
{
    return '| ' . implode(' | ', $cells) . " |\n";
}

function table_markdown(array $columns, array $rows): string
{
    foreach ($rows as $row) {
        count($row) === count($columns) || throw new RuntimeException('row of other length in the table of ' . implode(', ', $columns));
    }
    return row($columns) . '|---' . str_repeat('|---:', count($columns) - 1) . "|\n" . implode('', array_map(row(...), $rows));
}

/** Each in its own paragraph; settings in a line of their own. */
function markdown(array $part, string $what, string $folder, string $measured): string
{
    return match ($what) {
        'tables' => implode("\n", array_map(fn (array $table): string => "**$table[title]**\n\n" . table_markdown($table['columns'], $table['rows']), $part['tables'])),
        'plots' => implode("\n", array_map(fn (array $plot): string => "![$plot[title]](" . basename($folder) . "/$plot[file].svg)\n", $part['plots'])),
        'settings' => '- ' . implode("\n- ", [...$part['settings'], "measured on $measured"]) . "\n",
        default => throw new RuntimeException("unknown place in the page: $what"),
    };
}

$fill_in = function (array $place) use ($parts, $results, $folder, $processor): string {
    [$all, $begin, $name, $whats, $end] = $place;
    if (!in_array($name, $parts, true)) {
        return $all;
    }
    $file = "$results/$name.json";
    if (!is_file($file)) {
        return "$begin\n*$name was not measured.*\n$end";
    }
    $part = json_decode(file_get_contents($file), true, flags: JSON_THROW_ON_ERROR) + ['settings' => [], 'tables' => [], 'plots' => []];
    $measured = gmdate('Y-m-d', filemtime($file)) . ", $processor";
    $texts = array_map(fn (string $what): string => markdown($part, $what, $folder, $measured), explode(' ', $whats));
    is_dir($folder) || mkdir($folder);
    array_walk($part['plots'], fn (array $plot) => draw($plot, $folder));
    return "$begin\n" . implode("\n", $texts) . $end;
};
$text = preg_replace_callback('/^(<!-- begin (\w+) ([\w ]+) -->)$.*?^(<!-- end \2 -->)$/ms', $fill_in, file_get_contents($page));
file_put_contents($page, $text);
