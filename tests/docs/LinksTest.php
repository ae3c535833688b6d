<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use PHPUnit\Framework\TestCase;

/** Whatever a page leads to is there, and README.md leads to every page. Other sites are not asked. */
final class LinksTest extends TestCase
{
    public function testPagesLeadToFilesAndHeadings(): void
    {
        foreach (Markdown::all() as $page) {
            foreach ($page->links() as $link) {
                [$file, $anchor] = explode('#', $link, 2) + [1 => ''];
                $path = $file === '' ? $page->path : dirname($page->path) . "/$file";
                self::assertFileExists($path, "$page->path: $link");
                if ($anchor !== '') {
                    self::assertContains($anchor, (new Markdown($path))->anchors(), "$page->path: $link");
                }
            }
        }
    }

    public function testTheReadmeLeadsToEveryPage(): void
    {
        $reached = ['README.md'];
        for ($next = 0; $next < count($reached); ++$next) {
            foreach ((new Markdown($reached[$next]))->links() as $link) {
                $target = (string) realpath(dirname($reached[$next]) . '/' . explode('#', $link)[0]);
                $path = substr(is_dir($target) ? "$target/README.md" : $target, strlen(getcwd()) + 1);
                if (str_ends_with($path, '.md') && is_file($path) && !in_array($path, $reached, true)) {
                    $reached[] = $path;
                }
            }
        }
        $pages = array_map(static fn (Markdown $page): string => $page->path, Markdown::all());
        self::assertEqualsCanonicalizing($pages, $reached);
    }
}
