<?php

// The process that a Worker starts: reads lists of questions from standard input, each a frame of its length and serialised, and
// writes a frame for each answer. What goes to the error log goes to standard error.
//
//   php answer.php [OPEN_BASEDIR]

declare(strict_types=1);

use KeySieve\Set;
use KeySieve\Tests\Differential\{Answering, Question};

require __DIR__ . '/../../php-tests/bootstrap.php';

// Nothing is loaded later, when this process may be another user, who may look at nothing but the sets.
array_map(class_exists(...), [Set::class, Question::class]);
$answering = new Answering();
$user = (int) getenv('KEYSIEVE_TEST_USER');
if ($user !== 0 && !(posix_setgid($user) && posix_setuid($user))) {
    exit("cannot become user $user\n");
}
if (isset($argv[1])) {
    ini_set('open_basedir', $argv[1]);
}
while (($head = fread(STDIN, 4)) !== '' && $head !== false) {
    $questions = unserialize(stream_get_contents(STDIN, unpack('N', $head)[1]));
    foreach ($questions as $question) {
        $frame = serialize($answering->answer($question));
        fwrite(STDOUT, pack('N', strlen($frame)) . $frame);
    }
}
