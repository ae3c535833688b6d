<?php

// Lists the versions of the documentation in every page of their sites: the one in a folder, named by the first heading
// of CHANGELOG.md, and the released ones in its subfolders. A page leads to the page of the same path, if a version has it.
// usage: php tools/workshop/site/versions.php FOLDER_OF_SITE, from the top of the repository

declare(strict_types=1);

require __DIR__ . '/text.php';

const PLACE = '~(<span class="versions">).*?(</span>)~s'; // made by mkdocs.yml and make.php

$site = $argv[1];
preg_match('/^## (.+)$/m', read_file('CHANGELOG.md'), $heading);
$versions = [$heading[1] => ''];
$folders = array_map(basename(...), glob("$site/[0-9]*", GLOB_ONLYDIR));
usort($folders, static fn (string $one, string $other): int => version_compare($other, $one));
foreach ($folders as $folder) {
    $versions += [$folder => "$folder/"];
}
foreach ($versions as $version => $folder) {
    foreach (pages_of("$site/$folder", $folder === '' ? $folders : []) as $page) {
        $list = list_for($page, (string) $version, $versions, $site, str_repeat('../', substr_count($folder . $page, '/')));
        write_file("$site/$folder$page", preg_replace(PLACE, "$1{$list}$2", read_file("$site/$folder$page")));
    }
}

/** @return string[] paths of pages in a site. 404.html is left out: it is shown at any address, so links cannot be relative. */
function pages_of(string $site, array $without): array
{
    $pages = [];
    $files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($site, FilesystemIterator::SKIP_DOTS));
    foreach ($files as $file) {
        $path = ltrim(substr($file->getPathname(), strlen($site)), '/');
        if (str_ends_with($path, '.html') && $path !== '404.html' && !in_array(strstr($path, '/', true), $without, true)) {
            $pages[] = $path;
        }
    }
    return $pages;
}

/** @param array<string, string> $versions name => folder within the site */
function list_for(string $page, string $shown, array $versions, string $site, string $top): string
{
    $links = [];
    foreach ($versions as $version => $folder) {
        $target = is_file("$site/$folder$page") ? $page : 'index.html';
        $text = literal((string) $version);
        $links[] = (string) $version === $shown ? "<b>$text</b>" : "<a href=\"$top$folder$target\">$text</a>";
    }
    return 'Version ' . implode(' · ', $links);
}
