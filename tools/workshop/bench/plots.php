<?php

// Draws the plots of the parts with gnuplot, as SVG files in build/bench. Each function returns the Markdown that shows its plot.

declare(strict_types=1);

const PLOTS = __DIR__ . '/../../../build/bench';

/** A bar for each row, a name and a number; those of keysieve stand out. */
function bars(string $file, string $title, string $unit, string $scale, array $rows, string $note = ''): string
{
    $start = $scale === 'log' ? min(array_column($rows, 1)) / 2 : 0;
    $names = $data = $labels = [];
    foreach ($rows as $i => [$name, $value]) {
        $names[] = quoted($name) . " $i";
        $data[] = "$value $i " . (str_starts_with($name, 'keysieve') ? 1 : 2) . "\n";
        $labels[] = 'set label ' . quoted(number_text((float) $value)) . " at $value,$i left offset 0.5,0\n";
    }
    return draw($file, $title, $note, 150 + 26 * count($rows), axis('x', $unit, $scale, '0') . implode($labels) . "\$bars << end\n" . implode($data) . "end\n"
        . 'set ytics (' . implode(', ', $names) . ") nomirror\nset yrange [" . count($rows) - 0.5 . ":-0.5]\nset rmargin 12\nset style fill solid 0.7\nset nokey\n"
        . "plot \$bars using ($start):2:($start):1:(\$2-0.35):(\$2+0.35):3 with boxxyerror linecolor variable\n");
}

/** A line through each list of points, by name. $x and $y: title and scale of the axis. */
function lines(string $file, string $title, array $x, array $y, array $lines, string $note = ''): string
{
    $data = $curves = [];
    foreach (array_keys($lines) as $i => $name) {
        $data[] = "\$line$i << end\n" . implode(array_map(fn (array $point): string => "$point[0] $point[1]\n", $lines[$name])) . "end\n";
        $curves[] = "\$line$i with linespoints pointtype 7 pointsize 0.5 linewidth 2 title " . quoted((string) $name);
    }
    return draw($file, $title, $note, 480, axis('x', ...[...$x, '*']) . axis('y', ...[...$y, '0']) . "set key outside right top\n" . implode($data) . 'plot ' . implode(', ', $curves) . "\n");
}

/** In single quotes gnuplot takes every byte as it is. */
function quoted(string $text): string
{
    return "'" . str_replace("'", "''", $text) . "'";
}

/** As people write it: 0.25, 1,234, 1.5 million. */
function number_text(float $number): string
{
    return match (true) {
        $number >= 1e6 => sprintf('%.3g million', $number / 1e6),
        $number >= 100 => number_format($number),
        default => sprintf('%.3g', $number),
    };
}

function axis(string $name, string $title, string $scale, string $linear_from): string
{
    return ($scale === 'log' ? "set logscale $name" : "set {$name}range [$linear_from:*]") . "\nset {$name}label " . quoted($title) . "\n";
}

function draw(string $file, string $title, string $note, int $height, string $script): string
{
    is_dir(PLOTS) || mkdir(PLOTS, recursive: true);
    $process = proc_open(['gnuplot'], [['pipe', 'r']], $pipes);
    fwrite($pipes[0], "set terminal svg noenhanced size 960,$height dynamic background 'white' font 'sans-serif,14'\nset output " . quoted(PLOTS . "/$file.svg")
        . "\nset grid\nset format '%.12g'\nset title " . quoted($title) . '."\n".' . quoted($note) . "\n$script");
    fclose($pipes[0]);
    proc_close($process) === 0 || throw new RuntimeException("gnuplot has failed at $title");
    return "![$title]($file.svg)\n\n";
}
