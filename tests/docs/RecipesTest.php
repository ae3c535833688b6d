<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Runs every command of a page as it is written, from top to bottom. CONTRIBUTING.md says what its blocks and marks mean.
 * Below "# recipe NAME", recipes/PAGE says in shell what is there before, given(), and what must hold at the end, expected().
 */
final class RecipesTest extends TestCase
{
    /** Most of the time they wait: for a poll, for another server to take over. */
    private const AT_A_TIME = 4;

    /** @var Background[] by name of their recipe */
    private static array $runs = [];

    /** @return iterable<string, array{string, Markdown}> */
    public static function recipes(): iterable
    {
        chdir(__DIR__ . '/../..');
        foreach (array_filter(Markdown::all(), self::isRecipe(...)) as $page) {
            foreach ($page->recipes() as $name => $part) {
                if (self::steps($part) !== []) {
                    yield $name => [$name, $part];
                }
            }
        }
    }

    public static function tearDownAfterClass(): void
    {
        self::$runs = [];
    }

    public function testOtherTestsRunThePartsThatSaySo(): void
    {
        foreach (Markdown::all() as $page) {
            foreach ($page->runners() as $runner) {
                self::assertStringContainsString(basename($page->path), file_get_contents($runner), $page->path);
            }
        }
    }

    public function testEachRecipeBelongsToAPage(): void
    {
        $used = [];
        foreach (self::recipes() as $name => [, $part]) {
            $used[basename($part->path, '.md')][] = $name;
        }
        foreach (glob(__DIR__ . '/recipes/*') as $path) {
            $page = basename($path);
            self::assertEqualsCanonicalizing($used[$page] ?? [], array_keys(self::written($page)), $page);
        }
    }

    /** What looks like a command to the reader must look like one to this test. */
    public function testBlocksSayWhatTheyAre(): void
    {
        foreach (array_filter(Markdown::all(), self::isRecipe(...)) as $page) {
            foreach ($page->blocks() as $block) {
                $known = ['bash', 'dockerfile', 'ini', 'json', 'nginx', 'php', 'sql', 'text', 'toml', 'yaml'];
                self::assertContains($block['language'], $known, "$page->path:\n{$block['text']}");
            }
        }
    }

    #[DataProvider('recipes')]
    public function testItsCommandsDoWhatItSays(string $name, Markdown $part): void
    {
        self::assertNotNull(self::recipe($name, $part), "$part->path has commands that no recipe runs");
        self::beginFrom($name);
        $run = self::$runs[$name];
        self::assertSame(0, $run->status(), $run->output());
        unset(self::$runs[$name]);
    }

    /** Begins this recipe and those that follow it, unless they have begun. */
    private static function beginFrom(string $name): void
    {
        $recipes = iterator_to_array(self::recipes());
        $from = array_search($name, array_keys($recipes), true);
        foreach (array_slice($recipes, $from, self::AT_A_TIME) as [$next, $part]) {
            if (self::recipe($next, $part) !== null) {
                self::$runs[$next] ??= self::start($next, $part);
            }
        }
    }

    private static function start(string $name, Markdown $part): Background
    {
        $folder = new Folder('recipe');
        file_put_contents("$folder/script", implode("\n", [
            file_get_contents(__DIR__ . '/recipes/common'),
            self::recipe($name, $part),
            'given',
            ...self::steps($part),
            'expected',
        ]));
        return new Background($folder, [__DIR__ . '/disposable_root', "$folder/script"]); // nothing in there survives it
    }

    private static function recipe(string $name, Markdown $part): ?string
    {
        return self::written(basename($part->path, '.md'))[$name] ?? null;
    }

    /** @return array<string, string> the recipes of a page in shell, by their names */
    private static function written(string $page): array
    {
        $file = __DIR__ . "/recipes/$page";
        $texts = is_file($file) ? preg_split('/^# recipe (\S+)$/m', file_get_contents($file), flags: PREG_SPLIT_DELIM_CAPTURE) : [];
        return array_column(array_chunk(array_slice($texts, 1), 2), 1, 0);
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
                $steps[] = "write_file '{$block['title']}' <<'END OF FILE'\n{$block['text']}END OF FILE";
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
