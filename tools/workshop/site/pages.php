<?php

// Finds the pages of the repository by their links. Links to other files lead to pages that show those.

declare(strict_types=1);

const LANGUAGES = ['php' => 'php', 'cpp' => 'cpp', 'hpp' => 'cpp', 'toml' => 'toml', 'yaml' => 'yaml', 'yml' => 'yaml', 'json' => 'json'];
const SHOWN_BY_BROWSERS = ['svg', 'png'];

/**
 * All pages that links reach from a page, path => text.
 *
 * @param array<string, string> $references path of a source => page that is made from it
 * @return array<string, string>
 */
function linked_pages(string $first, array $references): array
{
    $pages = [];
    $coming = [$first];
    while (($path = array_pop($coming)) !== null) {
        $place = page_of($path);
        if (isset($pages[$place])) {
            continue;
        }
        $pages[$place] = str_ends_with($path, '.md') || $place === $path ? read_file($path) : source_page($path);
        if (str_ends_with($path, '.md')) {
            $pages[$place] = with_whole_options(with_links($pages[$place], $path, $references, $coming));
        }
    }
    return $pages;
}

function page_of(string $path): string
{
    return in_array(pathinfo($path, PATHINFO_EXTENSION), ['md', ...SHOWN_BY_BROWSERS], true) ? $path : "$path.md";
}

function source_page(string $path): string
{
    $text = read_file($path);
    $language = LANGUAGES[pathinfo($path, PATHINFO_EXTENSION)] ?? (str_starts_with($text, '#!') ? 'bash' : 'text');
    return "# $path\n\n" . code_block($language, $text);
}

/** The text with links for the site; their targets in the repository are added to $coming. */
function with_links(string $text, string $path, array $references, array &$coming): string
{
    $link = '/(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)(?=[#)])/';
    return preg_replace_callback($link, static function (array $found) use ($path, $references, &$coming): string {
        $target = resolved(dirname($path), $found[1]);
        $page = $references[$target] ?? null;
        if (is_dir($target)) {
            $target .= '/README.md';
        }
        if ($page === null) {
            $coming[] = $target;
            $page = page_of($target);
        }
        return str_repeat('../', substr_count($path, '/')) . $page;
    }, $text);
}

/** Browsers break lines after hyphens in narrow columns; options must not be broken. */
function with_whole_options(string $text): string
{
    $whole = static fn (string $code): string => preg_replace('/(?<!\S)-[\w-]+/', '<span class="whole">$0</span>', $code);
    $in_code = static fn (array $found): string => '<code>' . $whole(literal($found[1])) . '</code>';
    $in_row = static fn (array $row): string => preg_replace_callback('/`([^`]+)`/', $in_code, $row[0]);
    return preg_replace_callback('/^\|.*$/m', $in_row, $text);
}

/** The path from the top of the repository. */
function resolved(string $folder, string $link): string
{
    $names = [];
    foreach (explode('/', "$folder/$link") as $name) {
        if ($name === '..') {
            array_pop($names);
        } elseif ($name !== '.' && $name !== '') {
            $names[] = $name;
        }
    }
    return implode('/', $names);
}
