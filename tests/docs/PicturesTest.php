<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** The pictures in docs/pictures are drawn by hand: each is shown by a page, and readable in light and dark. */
final class PicturesTest extends TestCase
{
    private const FOLDER = 'docs/pictures';
    private const COLOUR = '/^\s*(\.[\w-]+|text)\s*\{[^}]*#[0-9a-f]{3,6}/m';

    #[DataProvider('pictures')]
    public function testAPageShowsIt(string $path): void
    {
        $shown = [];
        foreach (glob('docs/*.md') as $page) {
            preg_match_all('/!\[([^\]\s][^\]]*)\]\(([^)]+)\)/', file_get_contents($page), $images, PREG_SET_ORDER);
            foreach ($images as [, , $target]) {
                $shown[] = dirname($page) . "/$target";
            }
        }
        self::assertContains($path, $shown, 'no page shows it with a text instead of the picture');
    }

    #[DataProvider('pictures')]
    public function testItHasATitleAndTextThatIsText(string $path): void
    {
        $picture = self::picture($path);
        self::assertNotSame('', $picture->evaluate('normalize-space(/*/*[1][local-name() = "title"])'), 'no title');
        self::assertSame('720', $picture->evaluate('string(/*/@width)'), 'wider than a page');
        self::assertGreaterThan(0, $picture->query('//*[local-name() = "text"]')->length);
        preg_match_all('/font-size: (\d+)px/', self::style($picture), $sizes);
        self::assertGreaterThanOrEqual(13, min($sizes[1]), 'text too small to read');
        self::assertSame(0, $picture->query('//@href | //*[local-name() = "image" or local-name() = "script"]')->length);
    }

    #[DataProvider('pictures')]
    public function testEachOfItsColoursHasADarkOne(string $path): void
    {
        $picture = self::picture($path);
        [$light, $dark] = explode('@media (prefers-color-scheme: dark)', self::style($picture)) + [1 => ''];
        preg_match_all(self::COLOUR, $light, $coloured);
        preg_match_all(self::COLOUR, $dark, $recoloured);
        self::assertContains('.page', $coloured[1], 'no background');
        self::assertEqualsCanonicalizing($coloured[1], $recoloured[1]);

        $elsewhere = '//@fill | //@stroke | //@style[contains(., "#")]';
        self::assertSame(0, $picture->query($elsewhere)->length, 'a colour outside of the style sheet');
        foreach ($picture->query('//@class') as $classes) {
            foreach (explode(' ', $classes->nodeValue) as $class) {
                self::assertStringContainsString(".$class {", $light, "$classes->nodeValue: no such class");
            }
        }
    }

    /** @return iterable<string, array{string}> */
    public static function pictures(): iterable
    {
        foreach (glob(self::FOLDER . '/*.svg') as $path) {
            yield basename($path, '.svg') => [$path];
        }
    }

    private static function picture(string $path): \DOMXPath
    {
        $document = new \DOMDocument();
        self::assertTrue($document->load($path), 'not well-formed');
        return new \DOMXPath($document);
    }

    private static function style(\DOMXPath $picture): string
    {
        return $picture->evaluate('string(//*[local-name() = "style"])');
    }
}
