<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use PHPUnit\Framework\TestCase;

/**
 * Every command of a page is run as it is written, from top to bottom, and each block with a title is the file
 * of that name. A block of text that follows commands at once is what they print. recipes/PAGE says in shell
 * what is there before, given(), and what must hold at the end, expected(). "<!-- not run: why -->" above a
 * block leaves it out, "<!-- run by FILE -->" a page.
 */
final class RecipesTest extends TestCase
{
    /** Most of the time they wait: for a poll, for another server to take over. */
    private const AT_A_TIME = 4;

    /** @var DisposableRun[] by path of their page */
    private static array $runs = [];

    /** @return iterable<string, array{Markdown}> */
    public static function pages(): iterable
    {
        chdir(__DIR__ . '/../..');
        foreach (Markdown::all() as $page) {
            if (self::isRecipe($page) && $page->runner() === null && self::steps($page) !== []) {
                yield $page->path => [$page];
            }
        }
    }

    public static function tearDownAfterClass(): void
    {
        self::$runs = [];
    }

    public function testOtherTestsRunThePagesThatSaySo(): void
    {
        foreach (Markdown::all() as $page) {
            if ($page->runner() !== null) {
                $runner = file_get_contents($page->runner());
                self::assertStringContainsString(basename($page->path), $runner, $page->path);
            }
        }
    }

    /** What looks like a command to the reader must look like one to this test. */
    public function testBlocksSayWhatTheyAre(): void
    {
        foreach (array_filter(Markdown::all(), self::isRecipe(...)) as $page) {
            foreach ($page->blocks() as $block) {
                $known = ['bash', 'ini', 'nginx', 'php', 'text', 'toml', 'yaml'];
                self::assertContains($block['language'], $known, "$page->path:\n{$block['text']}");
            }
        }
    }

    /** @dataProvider pages */
    public function testItsCommandsDoWhatItSays(Markdown $page): void
    {
        self::assertFileExists(self::recipe($page), "$page->path has commands that nobody runs");
        self::beginFrom($page);
        $run = self::$runs[$page->path];
        self::assertSame(0, $run->status(), $run->output());
        unset(self::$runs[$page->path]);
    }

    /** Begins this page and those that follow it, unless they have begun. */
    private static function beginFrom(Markdown $page): void
    {
        $pages = iterator_to_array(self::pages());
        $from = array_search($page->path, array_keys($pages), true);
        foreach (array_slice($pages, $from, self::AT_A_TIME) as [$next]) {
            if (file_exists(self::recipe($next))) {
                self::$runs[$next->path] ??= new DisposableRun(implode("\n", [
                    file_get_contents(__DIR__ . '/recipes/common'),
                    file_get_contents(self::recipe($next)),
                    'given',
                    ...self::steps($next),
                    'expected',
                ]));
            }
        }
    }

    private static function recipe(Markdown $page): string
    {
        return __DIR__ . '/recipes/' . basename($page->path, '.md');
    }

    private static function isRecipe(Markdown $page): bool
    {
        return $page->path === 'README.md' || str_starts_with($page->path, 'docs/');
    }

    /** @return string[] shell */
    private static function steps(Markdown $page): array
    {
        $steps = [];
        foreach ($page->blocks() as $block) {
            if (!$block['isRun']) {
                continue;
            }
            if ($block['title'] !== '') {
                $steps[] = "write_file {$block['title']} <<'END OF FILE'\n{$block['text']}END OF FILE";
            } elseif ($block['language'] === 'bash') {
                ['text' => $commands, 'output' => $output] = $block;
                $steps[] = 'echo ' . escapeshellarg("\$ $commands");
                $steps[] = $output === null ? $commands : self::checked($commands, $output);
            }
        }
        foreach ($page->commandsOfTables() as $command) {
            $steps[] = 'look ' . escapeshellarg($command);
        }
        return $steps;
    }

    private static function checked(string $commands, string $output): string
    {
        return "{\n$commands} >/tmp/output\ndiff - /tmp/output <<'END OF OUTPUT'\n{$output}END OF OUTPUT";
    }
}
