<?php

// Draws the plots of the parts with gnuplot, as SVG files in build/bench.

declare(strict_types=1);

const PLOTS = __DIR__ . '/../../../build/bench';

/** A bar for each row, a name and a number; those of keysieve stand out. Returns the Markdown that shows the plot. */
function bars(string $file, string $title, string $unit, string $scale, array $rows, string $note = ''): string
{
    $start = $scale === 'log' ? min(array_column($rows, 1)) / 2 : 0;
    $names = $data = $labels = [];
    foreach ($rows as $i => [$name, $value]) {
        $names[] = quoted($name) . " $i";
        $data[] = "$value $i " . (str_starts_with($name, 'keysieve') ? 1 : 2) . "\n";
        $labels[] = 'set label ' . quoted($value >= 100 ? number_format($value) : sprintf('%.3g', $value)) . " at $value,$i left offset 0.5,0\n";
    }
    is_dir(PLOTS) || mkdir(PLOTS, recursive: true);
    $process = proc_open(['gnuplot'], [['pipe', 'r']], $pipes);
    fwrite($pipes[0], 'set terminal svg noenhanced size 960,' . 150 + 26 * count($rows) . " dynamic background 'white' font 'sans-serif,14'\n"
        . 'set output ' . quoted(PLOTS . "/$file.svg") . "\nset grid\nset format '%.12g'\nset title " . quoted($title) . '."\n".' . quoted($note) . "\n"
        . ($scale === 'log' ? 'set logscale x' : 'set xrange [0:*]') . "\nset xlabel " . quoted($unit) . "\n"
        . implode($labels) . "\$bars << end\n" . implode($data) . "end\n"
        . 'set ytics (' . implode(', ', $names) . ") nomirror\nset yrange [" . count($rows) - 0.5 . ":-0.5]\nset rmargin 12\nset style fill solid 0.7\nset nokey\n"
        . "plot \$bars using ($start):2:($start):1:(\$2-0.35):(\$2+0.35):3 with boxxyerror linecolor variable\n");
    fclose($pipes[0]);
    proc_close($process) === 0 || throw new RuntimeException("gnuplot has failed at $title");
    return "![$title]($file.svg)\n\n";
}

/** In single quotes gnuplot takes every byte as it is. */
function quoted(string $text): string
{
    return "'" . str_replace("'", "''", $text) . "'";
}
