<?php

// Shows what this worker sees of ?sets=tags,shop, and the extension's part of phpinfo(). Deny access to others: ../README.md
// says how.

declare(strict_types=1);

use KeySieve\Set;

header('Content-Type: text/html; charset=utf-8');
if (function_exists('posix_geteuid')) {
    $groups = implode(', ', array_unique([posix_getegid(), ...posix_getgroups() ?: []]));
    echo '<p>Worker ', getmypid(), ' has uid ', posix_geteuid(), ", groups $groups</p>\n";
}
foreach (explode(',', $_GET['sets'] ?? '') as $name) {
    if (preg_match('/^[a-z0-9][a-z0-9_-]{0,63}$/', $name) !== 1) {
        continue;
    }
    $set = new Set($name);
    $text = "$name: {$set->availability()->name}";
    $info = $set->info();
    if ($info !== null) {
        $text .= ", publication $info->publication, generation $info->generation, keys of {$info->asOf->format(DATE_ATOM)}";
        $text .= $info->trouble === null ? '' : " ($info->trouble)";
    }
    echo '<p>', htmlspecialchars($text), "</p>\n";
}
(new ReflectionExtension('keysieve'))->info(); // also says for each of these sets why it does not answer
