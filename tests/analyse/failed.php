<?php

// Compares what PHPStan says of a file with the comments at the ends of its lines: php failed.php FILE.php REPORT.json

declare(strict_types=1);

[, $file, $report] = $argv;
$said = [];
foreach (json_decode((string) file_get_contents($report), true, flags: JSON_THROW_ON_ERROR)['files'] as ['messages' => $messages]) {
    foreach ($messages as ['line' => $line, 'message' => $message]) {
        $said[$line][] = $message;
    }
}
$wrong = $expected = 0;
foreach (file($file) ?: [] as $index => $text) {
    $wanted = preg_match('~; // (.+)$|\{ // (.+)$~', rtrim($text), $match) === 1 ? end($match) : null;
    $messages = $said[$index + 1] ?? [];
    $expected += (int) ($wanted !== null);
    if (($wanted === null) !== ($messages === []) || ($wanted !== null && !str_contains(implode("\n", $messages), $wanted))) {
        ++$wrong;
        printf("%s:%d: must be told \"%s\", is told \"%s\"\n", basename($file), $index + 1, $wanted ?? 'nothing', implode('; ', $messages));
    }
}
echo basename($file), ": $expected lines must not pass, $wrong are wrong\n";
exit($wrong === 0 && $expected > 0 ? 0 : 1);
