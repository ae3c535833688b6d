<?php

// pie_takes.php VERSION FOLDER: prints which file of a release in FOLDER PIE takes for this PHP on glibc, by what its
// documentation says of pre-packaged-binary; ends with status 1 if there is none. PIE itself cannot be had here.

[, $version, $folder] = $argv;
$php = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
$processor = ['x86_64' => 'x86_64', 'aarch64' => 'arm64'][php_uname('m')];
$debug = PHP_DEBUG ? '-debug' : '';
foreach (PHP_ZTS ? ['-zts'] : ['', '-nts'] as $threads) {
    foreach (['zip', 'tgz'] as $format) {
        $name = strtolower("php_keysieve-{$version}_php$php-$processor-linux-glibc$debug$threads.$format");
        if (is_file("$folder/$name")) {
            exit("$folder/$name\n");
        }
    }
}
exit(1);
