<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use PHPUnit\Framework\TestCase;

/** Whatever a page of the repository or of the site leads to is there. Other sites are not asked. */
final class LinksTest extends TestCase
{
    private const SITE = 'build/site';

    public function testPagesOfTheRepositoryLeadToFilesAndHeadings(): void
    {
        $checked = 0;
        foreach (Markdown::all() as $page) {
            foreach ($page->links() as $link) {
                [$file, $anchor] = explode('#', $link, 2) + [1 => ''];
                $path = $file === '' ? $page->path : dirname($page->path) . "/$file";
                self::assertFileExists($path, "$page->path: $link");
                if ($anchor !== '') {
                    self::assertContains($anchor, (new Markdown($path))->anchors(), "$page->path: $link");
                }
                ++$checked;
            }
        }
        self::assertGreaterThan(50, $checked);
    }

    public function testEveryPageOfTheRepositoryIsInTheSite(): void
    {
        foreach (Markdown::all() as $page) {
            $place = preg_replace(['/README\.md$/', '/\.md$/'], ['index.html', '.html'], $page->path);
            self::assertFileExists(self::SITE . "/$place", "$page->path: README.md leads nowhere to it");
        }
    }

    public function testPagesOfTheSiteLeadToPagesAndHeadings(): void
    {
        $pages = self::pagesOfTheSite();
        foreach ($pages as $path => $page) {
            foreach (self::values($page, '//a/@href | //img/@src | //script/@src | //link/@href') as $link) {
                if (preg_match('/^(https?:|mailto:|data:|javascript:)/', $link)) {
                    continue;
                }
                [$file, $anchor] = explode('#', $link, 2) + [1 => ''];
                $folder = str_starts_with($file, '/') ? self::SITE : dirname($path);
                $target = realpath($file === '' ? $path : "$folder/$file");
                self::assertNotFalse($target, "$path: $link");
                $target = is_dir($target) ? "$target/index.html" : $target;
                if ($anchor !== '' && isset($pages[$target])) {
                    $anchors = self::values($pages[$target], '//@id');
                    self::assertContains(urldecode($anchor), $anchors, "$path: $link");
                }
            }
        }
    }

    public function testTheSiteLoadsNothingFromElsewhere(): void
    {
        foreach (self::pagesOfTheSite() as $path => $page) {
            $loaded = self::values($page, '//@src | //link[@rel != "canonical"]/@href | //object/@data');
            self::assertSame([], preg_grep('~^(https?:)?//~', $loaded), $path);
        }
        foreach (glob(self::SITE . '/{assets/stylesheets/*.css,*.css}', GLOB_BRACE) as $path) {
            $elsewhere = '~(@import|url\()\s*["\']?(https?:)?//~';
            self::assertDoesNotMatchRegularExpression($elsewhere, file_get_contents($path), $path);
        }
    }

    /** @return array<string, \DOMXPath> */
    private static function pagesOfTheSite(): array
    {
        $pages = [];
        libxml_use_internal_errors(true);
        $files = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator(self::SITE));
        foreach (new \RegexIterator($files, '/\.html$/') as $file) {
            $document = new \DOMDocument();
            $document->loadHTMLFile($file->getPathname());
            $pages[realpath($file->getPathname())] = new \DOMXPath($document);
        }
        libxml_clear_errors();
        return $pages;
    }

    /** @return string[] */
    private static function values(\DOMXPath $page, string $query): array
    {
        $nodes = iterator_to_array($page->query($query));
        return array_map(static fn (\DOMNode $node): string => $node->nodeValue, $nodes);
    }
}
