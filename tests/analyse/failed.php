<?php

// Compares what PHPStan or Psalm says of a file with the comments at the ends of its lines, "// PHPStan // Psalm", and shows what it says of
// other files: php failed.php FILE.php REPORT.json

declare(strict_types=1);

[, $file, $report] = $argv;
$report = json_decode((string) file_get_contents($report), true, flags: JSON_THROW_ON_ERROR);
$isOfPsalm = array_is_list($report);
$said = [];
foreach ($report['files'] ?? [] as $path => ['messages' => $messages]) {
    foreach ($messages as ['line' => $line, 'message' => $message]) {
        $said[$path][$line][] = $message;
    }
}
foreach ($isOfPsalm ? $report : [] as ['file_path' => $path, 'line_from' => $line, 'type' => $type, 'message' => $message]) {
    if ($path !== $file || !str_ends_with($type, 'ReturnType')) { // which repeats what it says of the return statement
        $said[$path][$line][] = "$type: $message";
    }
}
$wrong = $expected = 0;
foreach (file($file) ?: [] as $index => $text) {
    $wanted = preg_match('~[;{] // (.+) // (.+)$~', rtrim($text), $match) === 1 ? $match[$isOfPsalm ? 2 : 1] : null;
    $messages = $said[$file][$index + 1] ?? [];
    $expected += (int) ($wanted !== null);
    if (($wanted === null) !== ($messages === []) || ($wanted !== null && !str_contains(implode("\n", $messages), $wanted))) {
        ++$wrong;
        printf("%s:%d: must be told \"%s\", is told \"%s\"\n", basename($file), $index + 1, $wanted ?? 'nothing', implode('; ', $messages));
    }
}
unset($said[$file]);
foreach ($said as $path => $lines) {
    foreach ($lines as $line => $messages) {
        echo "$path:$line: ", implode("\n    ", $messages), "\n";
    }
}
echo basename($file), ": $expected lines must not pass, $wrong are wrong\n";
exit($wrong === 0 && $expected > 0 && $said === [] ? 0 : 1);
