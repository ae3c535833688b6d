<?php

// pie_takes.php TAG FOLDER: prints which file of the release TAG, in FOLDER, PIE takes for this PHP on glibc, by what its
// documentation says of pre-packaged-binary; ends with status 1 if there is none. PIE's version is Composer's, which is the
// tag as it is written. PIE itself cannot be had here.

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
