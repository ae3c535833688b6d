<?php

// Tells random stories of sets to both implementations, until they differ, and says where. tests/differential/run starts it.
//
//   php fuzz.php KEPT WORK seconds SECONDS [FIRST_SEED]
//   php fuzz.php KEPT WORK seed SEED

declare(strict_types=1);

use KeySieve\Tests\Differential\Stage;
use KeySieve\Tests\Differential\Story;
use KeySieve\Tests\Support\Program;

require __DIR__ . '/../../php-tests/bootstrap.php';

set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    (error_reporting() & $level) !== 0 && throw new ErrorException($message, 0, $level, $file, $line);
    return true;
});
[, $kept, $work, $how, $number] = $argv;
$seed = (int) ($how === 'seed' ? $number : $argv[5] ?? random_int(0, PHP_INT_MAX >> 16));
$stage = new Stage($work);
$stories = $questions = $longest = $longestSeed = 0;
$begin = $said = $now = hrtime(true) / 1e9;
do {
    $started = $now;
    $story = new Story($seed++, $stage);
    $finding = $story->tell();
    if ($finding !== null) {
        $folder = "$kept/$story->seed";
        $text = "finding: $finding\n  again: tests/differential/run BUILD_DIRECTORY --seed $story->seed; its files: $folder\n";
        Program::succeed(['rm', '-rf', $folder]);
        mkdir($folder, recursive: true);
        file_exists($story->folder()) && Program::succeed(['cp', '-a', '--', $story->folder(), $folder]);
        file_put_contents("$folder/finding", $text);
        echo $text;
    }
    Program::succeed(['rm', '-rf', $story->folder()]);
    ++$stories;
    $questions += $story->questions;
    $now = hrtime(true) / 1e9;
    if ($now - $started > $longest) {
        [$longest, $longestSeed] = [$now - $started, $story->seed];
    }
    if ($now - $said >= 10) {
        $said = $now;
        printf("%d s: %d stories, %d per second\n", $now - $begin, $stories, $stories / ($now - $begin));
    }
} while ($finding === null && $how === 'seconds' && $now - $begin < (float) $number);
printf("soak: differential: %d stories, %d questions to both implementations in %d s, the longest %.1f s (seed %d), %s\n", $stories, $questions,
    $now - $begin, $longest, $longestSeed, $finding === null ? 'no finding' : 'a finding');
exit($finding === null ? 0 : 1);
