<?php

// Makes the reference of keysieved's configuration from the file that is shipped as an example.

declare(strict_types=1);

function loader_page(string $example): string
{
    $page = "# keysieve.toml\n\n";
    $comment = [];
    foreach ([...explode("\n", $example), ''] as $line) {
        if (preg_match('/^# ?(?!\[|[a-z_]+ = )(.*)$/', $line, $found)) {
            $comment[] = $found[1];
            continue;
        }
        $text = prose(implode("\n", $comment));
        $comment = [];
        if (preg_match('/^#?(\[+[a-z].*)$/', $line, $found)) {
            $page .= "## $found[1]\n\n$text\n\n";
        } elseif (preg_match('/^#?([a-z_]+) = /', $line, $found)) {
            $page .= "### $found[1]\n\n$text\n\n" . code_block('toml', $line);
        } elseif ($text !== '') {
            $page .= "$text\n\n";
        }
    }
    return $page . "## The whole file\n\n" . code_block('toml', $example);
}
