<?php

// pie_takes.php TAG FOLDER: prints which file of the release TAG, in FOLDER, PIE chooses for this PHP on glibc; ends with
// status 1 if there is none. It follows PIE's documentation of pre-packaged-binary, since PIE itself cannot be had here.
// PIE's version is Composer's, which is the tag as it is written.

[, $tag, $folder] = $argv;
$php = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
$processor = ['x86_64' => 'x86_64', 'aarch64' => 'arm64'][php_uname('m')];
$debug = PHP_DEBUG ? '-debug' : '';
foreach (PHP_ZTS ? ['-zts'] : ['', '-nts'] as $threads) {
    foreach (['zip', 'tgz'] as $format) {
        $name = strtolower("php_keysieve-{$tag}_php$php-$processor-linux-glibc$debug$threads.$format");
        if (is_file("$folder/$name")) {
            exit("$folder/$name\n");
        }
    }
}
exit(1);
