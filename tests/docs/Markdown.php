<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

/** A page of Markdown as a forge reads it: headings, links, code. */
final class Markdown
{
    private readonly string $text;

    /** @param ?string $part of its text; null: all of it */
    public function __construct(public readonly string $path, ?string $part = null)
    {
        $this->text = $part ?? file_get_contents($path);
    }

    /** @return self[] every page of the repository, except those that the forge shows in its forms */
    public static function all(): array
    {
        exec("git ls-files -co --exclude-standard '*.md' ':!.github'", $paths);
        return array_map(static fn (string $path): self => new self($path), $paths);
    }

    /** @return string[] */
    public function anchors(): array
    {
        preg_match_all('/^#+ (.+)$/m', $this->outsideOfBlocks(), $headings);
        return array_map(self::anchor(...), $headings[1]);
    }

    /** @return string[] targets as they are written, those outside of the repository left out */
    public function links(): array
    {
        $prose = preg_replace('/`[^`\n]*`/', '', $this->outsideOfBlocks());
        preg_match_all('/\]\(((?!https?:|mailto:)[^)\s]+)\)/', $prose, $links);
        return $links[1];
    }

    /**
     * The parts of the page that RecipesTest runs, each in a machine of its own. The first has the name of the page;
     * "<!-- recipe NAME -->" begins another. "<!-- run by FILE -->" begins a part that another test runs.
     *
     * @return array<string, self> by the name of their recipe
     */
    public function recipes(): array
    {
        $marks = '/^<!-- (recipe|run by) (\S+) -->$/m';
        $texts = preg_split($marks, $this->text, flags: PREG_SPLIT_DELIM_CAPTURE);
        $recipes = [basename($this->path, '.md') => array_shift($texts)];
        foreach (array_chunk($texts, 3) as [$mark, $name, $text]) {
            if ($mark === 'recipe') {
                $recipes[$name] = ($recipes[$name] ?? '') . $text;
            }
        }
        return array_map(fn (string $text): self => new self($this->path, $text), $recipes);
    }

    /** @return string[] the tests that run parts of this page themselves */
    public function runners(): array
    {
        preg_match_all('/^<!-- run by (\S+) -->$/m', $this->text, $found);
        return $found[1];
    }

    /**
     * "output": the block of text that follows at once, if it does.
     *
     * @return array{language: string, title: string, text: string, isRun: bool, output: ?string}[]
     */
    public function blocks(): array
    {
        $block = '/(<!-- not run: [^\n]+ -->\n+)?^```(\w*)(?: title="([^"\n]+)")?\n(.*?)^```$'
            . '(?=(?:\n\n```text\n(.*?)^```$)?)/ms';
        preg_match_all($block, $this->text, $blocks, PREG_SET_ORDER);
        return array_map(static fn (array $block): array => [
            'language' => $block[2],
            'title' => $block[3],
            'text' => $block[4],
            'isRun' => $block[1] === '',
            'output' => $block[5] ?? null,
        ], $blocks);
    }

    /** @return string[] */
    public function codeSpans(): array
    {
        preg_match_all('/`([^`\n]+)`/', $this->outsideOfBlocks(), $spans);
        return $spans[1];
    }

    /** @return string[] the code in the second and third column of a table that a comment says is run */
    public function commandsOfTables(): array
    {
        preg_match('/^<!-- The commands of this table are run.*?\n\n((?:\|.*\n)+)/m', $this->text, $table);
        $commands = [];
        foreach (explode("\n", $table[1] ?? '') as $row) {
            $cells = array_slice(explode(' | ', trim($row, '| ')), 1);
            preg_match_all('/`((?:keysieved?|ls|df|fuser|redis-cli) [^`]+)`/', implode(' ', $cells), $spans);
            array_push($commands, ...$spans[1]);
        }
        return $commands;
    }

    private function outsideOfBlocks(): string
    {
        return preg_replace('/^```.*?^```$/ms', '', $this->text);
    }

    private static function anchor(string $heading): string
    {
        return str_replace(' ', '-', preg_replace('/[^\w\- ]/u', '', mb_strtolower($heading)));
    }
}
