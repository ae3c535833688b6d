<?php

// Makes the folder of Markdown that mkdocs turns into the site: the pages of the repository as they are, and the references.
// usage: php tools/workshop/site/make.php FOLDER_OF_PROGRAMS FOLDER_TO_MAKE, from the top of the repository

declare(strict_types=1);

require __DIR__ . '/text.php';
require __DIR__ . '/pages.php';
require __DIR__ . '/command_line.php';
require __DIR__ . '/references.php';
require __DIR__ . '/php_interface.php';

const METRICS = 'tests/tools/loader/http/golden/metrics.txt';

// In the repository pages link to the sources, in the site to the pages made from them.
const REFERENCES = [
    'ext/keysieve.stub.php' => 'docs/reference/php.md',
    'ext/settings.cpp' => 'docs/reference/ini.md',
    'tools/loader/keysieve.toml.example' => 'docs/reference/loader.md',
    METRICS => 'docs/reference/metrics.md',
    'docs/schemas' => 'docs/reference/json.md',
];

// versions.php fills it in, once the sites of all versions are there.
const VERSIONS = <<<'MARKDOWN'
    # Versions

    <span class="versions"></span>

    [What changed](../CHANGELOG.md)
    MARKDOWN;

[, $programs, $made] = $argv;
foreach (linked_pages('README.md', REFERENCES) as $path => $text) {
    write_file("$made/$path", $text);
}
write_file("$made/site.css", read_file(__DIR__ . '/site.css'));
write_file("$made/docs/versions.md", VERSIONS);
write_file("$made/docs/reference/command_line.md", command_line_page($programs));
write_file("$made/docs/reference/ini.md", ini_page(read_file('ext/settings.cpp')));
write_file("$made/docs/reference/loader.md", loader_page(read_file('tools/loader/keysieve.toml.example')));
write_file("$made/docs/reference/metrics.md", metrics_page(read_file(METRICS)));
write_file("$made/docs/reference/json.md", json_page(glob('docs/schemas/*.json')));
write_file("$made/docs/reference/php.md", php_interface_page(read_file('ext/keysieve.stub.php')));
