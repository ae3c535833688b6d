<?php

// Compares builds of APCu with each other and with keysieve, for the section "Versions of APCu" of docs/results/benchmarks.md. Each method and
// build is a process of its own, as in php.php; they take turns by rounds.
//
//   php tools/workshop/bench/apcu.php BUILD_DIRECTORY ROUNDS KEYS APCU.so...
//
// The first row is what the others are compared with.

declare(strict_types=1);

require __DIR__ . '/methods.php';

[, $build, $rounds, $count] = $argv;
$folder = run('mktemp', '-d', '/dev/shm/keysieve.XXXXXX');
register_shutdown_function(fn () => run('rm', '-rf', $folder));
file_put_contents("$folder/keys", implode("\n", array_map(key_number(...), range(0, $count - 1))));
mkdir("$folder/sets");
run("$build/bin/keysieve", 'build', '--set', "keys-$count", '--fpr', '0.01', "$folder/keys", '-o', "$folder/set.ks");
run("$build/bin/keysieve", 'publish', '--directory', "$folder/sets", "$folder/set.ks");

$subjects = ['keysieve, candidates()' => ['keysieve, candidates()', EXTENSION]];
foreach (array_slice($argv, 4) as $library) {
    $version = run(PHP_BINARY, '-n', '-d', "extension=$library", '-r', 'echo phpversion("apcu");');
    foreach (array_filter(METHODS, fn (array $method): bool => $method[2] === APCU) as $name => $method) {
        $subjects["$version: $name"] = [$name, ["extension=$library", ...array_slice(APCU, 1)]];
    }
}

$workers = array_map(function (array $subject) use ($build, $count, $folder): array {
    [$method, $settings] = $subject;
    $settings = [...$settings, 'memory_limit=-1', 'display_errors=stderr', 'apc.enable_cli=1', 'apc.shm_size=1G'];
    $options = array_map(fn (string $one): string => '-d' . sprintf($one, $count, "$build/ext/keysieve.so", "$folder/sets"), $settings);
    $command = [PHP_BINARY, '-n', ...$options, __DIR__ . '/php.php', 'worker', $method, $count, $folder];
    $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
    fgets($pipes[1]) ?: throw new RuntimeException("$method: the process has ended"); // it is ready
    return [$pipes, $process];
}, $subjects);
$times = by_turns((int) $rounds, $workers, function (array $worker, int $round): float {
    fwrite($worker[0][0], "$round\n");
    return (float) fgets($worker[0][1]);
});

echo "| method | µs per page | × candidates() |\n|---|---:|---:|\n";
$reference = reset($times);
foreach ($times as $name => $own) {
    $ratio = median(array_map(fn (float $time, float $other): float => $time / $other, $own, $reference));
    printf("| %s | %s | %s |\n", $name, three_digits(median($own) / 1000), three_digits($ratio));
}
