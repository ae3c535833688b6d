<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use PHPUnit\Framework\TestCase;

/** Every command that a page shows has a verb and options that the programs know. */
final class CommandsTest extends TestCase
{
    // Where the shell takes a word for a command, and behind "runuser -u USER --".
    private const COMMAND = '~(?:^\s*|[|;&(]\s*|\s--\s+|\bif\s+|!\s+)(?:\w+=\S*\s+)*(?:[\w./]*/)?(keysieved? [^|&;\n)]+)~m';

    public function testCommandsHaveVerbsAndOptionsOfThePrograms(): void
    {
        $checked = 0;
        foreach (Markdown::all() as $page) {
            foreach (self::commandsOf($page) as $command) {
                $this->check($page->path, $command);
                ++$checked;
            }
        }
        self::assertGreaterThan(60, $checked);
    }

    /** systemctl takes a pattern for the whole name of a unit, and is content with one that matches none. */
    public function testPatternsOfUnitsNameTheirKind(): void
    {
        $pages = implode('', array_map(static fn (Markdown $page): string => file_get_contents($page->path), [...Markdown::all()]));
        preg_match_all("/systemctl \\w+ '([^']*\\*[^']*)'/", $pages, $patterns);
        self::assertSame(["php*-fpm.service"], array_values(array_unique($patterns[1])));
    }

    /** @return string[][] the words of each, from the program's name on */
    private static function commandsOf(Markdown $page): array
    {
        $texts = $page->codeSpans();
        foreach ($page->blocks() as $block) {
            if (in_array($block['language'], ['', 'sh', 'bash', 'yaml'], true)) {
                $texts[] = str_replace("\\\n", ' ', $block['text']);
            }
        }
        $commands = [];
        foreach ($texts as $text) {
            // Neither comments, nor what other programs print, nor the times and the user of cron.
            $others = ['/\s#\s.*$/m', '/\$\((?!keysieve)[^()]*\)/', '/^[\d*]+( [\d*]+){4}\s+\w+\s+/m'];
            $text = preg_replace($others, '', $text);
            preg_match_all(self::COMMAND, $text, $found);
            foreach ($found[1] as $command) {
                $commands[] = preg_split('/\s+/', trim($command));
            }
        }
        // In schemes of the data's way a name stands alone.
        $hasVerb = static fn (array $words): bool => preg_match('/^[a-z-]/', $words[1] ?? '') === 1;
        return array_values(array_filter($commands, $hasVerb));
    }

    /** @param string[] $words */
    private function check(string $path, array $words): void
    {
        $shown = "$path: " . implode(' ', $words);
        $command = [$words[0]];
        if ($words[0] === 'keysieve' && $words[1] !== '--help' && $words[1] !== '--version') {
            self::assertContains($words[1], Help::verbs(), $shown);
            $command[] = $words[1];
        }
        foreach ($words as $word) {
            if (preg_match('/^(--[a-z][a-z-]*|-[a-zA-Z0-9]$)/', trim($word, '"\'[]…,'), $option)) {
                self::assertContains($option[1], Help::options(...$command), $shown);
            }
        }
    }
}
