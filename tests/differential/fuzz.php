<?php

// Tells random stories of sets to both implementations, and says where they differ. tests/differential/run starts it.
//
//   php fuzz.php KEPT WORK seconds SECONDS [FIRST_SEED]
//   php fuzz.php KEPT WORK seed SEED

declare(strict_types=1);

use KeySieve\Tests\Differential\Findings;
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
$findings = new Findings($kept);
$stories = $questions = 0;
$begin = $said = hrtime(true) / 1e9;
do {
    $story = new Story($seed++, $stage);
    $finding = $story->tell();
    if ($finding !== null) {
        $findings->add($finding, hrtime(true) / 1e9 - $begin);
        $stage->workers->forget($story->settings);
    }
    Program::succeed(['rm', '-rf', $story->folder()]);
    ++$stories;
    $questions += $story->questions;
    $now = hrtime(true) / 1e9;
    if ($now - $said >= 10) {
        $said = $now;
        printf("%d s: %d stories, %d per second, %d findings\n", $now - $begin, $stories, $stories / ($now - $begin), $findings->count());
    }
} while ($how === 'seconds' && $now - $begin < (float) $number);
printf("soak: differential: %d stories, %d questions to both implementations in %d s, %s\n", $stories, $questions, $now - $begin,
    $findings->count() === 0 ? 'no finding' : $findings->count() . ' findings');
exit($findings->count() === 0 ? 0 : 1);
