<?php

// Draws the plots of a part, which README.md describes, with gnuplot: each is an SVG file.

declare(strict_types=1);

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

/** @param 'x'|'y' $name */
function axis(string $name, array $axis, string $linear_from): string
{
    $range = match ($axis['scale'] ?? 'linear') {
        'linear' => "set {$name}range [$linear_from:*]",
        'log' => "set logscale $name",
        default => throw new RuntimeException("no such scale: $axis[scale]"),
    };
    return "$range\nset {$name}label " . quoted($axis['title']) . "\n";
}

/** From top to bottom; those of keysieve stand out. */
function bars_script(array $plot): string
{
    ['title' => $title, 'bars' => $bars] = $plot;
    $rows = $bars['rows'] ?: throw new RuntimeException("plot without bars: $title");
    $start = ($bars['scale'] ?? 'linear') === 'log' ? min(array_column($rows, 1)) / 2 : 0;
    $names = $data = $labels = '';
    foreach ($rows as $i => [$name, $value]) {
        $names .= ($i === 0 ? '' : ', ') . quoted($name) . " $i";
        $data .= "$value $i " . (str_starts_with($name, 'keysieve') ? 1 : 2) . "\n";
        $labels .= 'set label ' . quoted(number_text((float) $value)) . " at $value,$i left offset 0.5,0\n";
    }
    return axis('x', $bars, '0') . "$labels\$bars << end\n{$data}end\n"
        . "set ytics ($names) nomirror\nset yrange [" . count($rows) - 0.5 . ":-0.5]\nset rmargin 12\nset style fill solid 0.7\nset nokey\n"
        . "plot \$bars using ($start):2:($start):1:(\$2-0.35):(\$2+0.35):3 with boxxyerror linecolor variable\n";
}

function lines_script(array $plot): string
{
    $data = '';
    $curves = [];
    foreach ($plot['series'] as $i => ['name' => $name, 'points' => $points]) {
        $points !== [] || throw new RuntimeException("line without points: $name");
        $data .= "\$line$i << end\n" . implode('', array_map(fn (array $point): string => "$point[0] $point[1]\n", $points)) . "end\n";
        $curves[] = "\$line$i with linespoints pointtype 7 pointsize 0.5 linewidth 2 title " . quoted($name);
    }
    $curves !== [] || throw new RuntimeException("plot without lines: $plot[title]");
    return axis('x', $plot['x'], '*') . axis('y', $plot['y'], '0') . "set key outside right top\n{$data}plot " . implode(', ', $curves) . "\n";
}

function draw(array $plot, string $folder): void
{
    $height = isset($plot['bars']) ? 150 + 26 * count($plot['bars']['rows']) : 480;
    $script = "set terminal svg noenhanced size 960,$height dynamic background 'white' font 'sans-serif,14'\n"
        . 'set output ' . quoted("$folder/$plot[file].svg") . "\nset grid\nset format '%.12g'\n"
        . 'set title ' . quoted($plot['title']) . '."\n".' . quoted($plot['note'] ?? '') . "\n"
        . (isset($plot['bars']) ? bars_script($plot) : lines_script($plot));
    $process = proc_open(['gnuplot'], [['pipe', 'r']], $pipes);
    fwrite($pipes[0], $script);
    fclose($pipes[0]);
    proc_close($process) === 0 || throw new RuntimeException("gnuplot has failed at $plot[title]");
}
