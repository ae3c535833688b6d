<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SvgText;
use KeySieve\Tests\Support\TestCase;

/** The picture of `keysieve plan --svg`, read by a parser of XML and looked at as a reader would. */
final class PlanSvgTest extends TestCase
{
    /** @var \DOMDocument[] by the options that were given */
    private static array $pictures = [];

    public static function tearDownAfterClass(): void
    {
        self::$pictures = [];
    }

    /** @return iterable<string, array{string[]}> */
    public static function plans(): iterable
    {
        yield 'usual' => [['--keys', '80000']];
        yield 'low FPR' => [['--keys', '100000000', '--fpr', '0.000001', '--shard-size', '8KiB']];
        yield 'high FPR' => [['--keys', '1000', '--fpr', '0.5', '--shard-size', '1KiB']];
        yield 'growth' => [['--keys', '5000000', '--fpr', '0.25%', '--shard-size', '2KiB', '--growth', '2']];
        yield 'few keys' => [['--keys', '3', '--fpr', '2%']];
    }

    /**
     * @dataProvider plans
     * @param string[] $options
     */
    public function testIsAWellFormedPicture(array $options): void
    {
        $svg = $this->picture($options);
        self::assertSame('svg', $svg->documentElement?->localName);
        self::assertSame('http://www.w3.org/2000/svg', $svg->documentElement->namespaceURI);
        self::assertGreaterThan(20, count(SvgText::allIn($svg)));
    }

    /**
     * @dataProvider plans
     * @param string[] $options
     */
    public function testLetsNoTextCoverAnother(array $options): void
    {
        $texts = SvgText::allIn($this->picture($options));
        foreach ($texts as $i => $text) {
            foreach (array_slice($texts, $i + 1) as $other) {
                self::assertFalse($text->covers($other), "\"$text->text\" and \"$other->text\"");
            }
        }
    }

    /**
     * @dataProvider plans
     * @param string[] $options
     */
    public function testKeepsEveryTextInThePicture(array $options): void
    {
        $svg = $this->picture($options);
        $width = (float) $svg->documentElement?->getAttribute('width');
        $height = (float) $svg->documentElement?->getAttribute('height');
        foreach (SvgText::allIn($svg) as $text) {
            self::assertGreaterThanOrEqual(0.0, min($text->left, $text->top), $text->text);
            self::assertLessThanOrEqual($width, $text->right, $text->text);
            self::assertLessThanOrEqual($height, $text->bottom, $text->text);
        }
    }

    /** @param string[] $options */
    private function picture(array $options): \DOMDocument
    {
        return self::$pictures[implode(' ', $options)] ??= self::draw($options);
    }

    /** @param string[] $options */
    private static function draw(array $options): \DOMDocument
    {
        $path = tempnam(sys_get_temp_dir(), 'keysieve-plan');
        Program::keysieve('plan', '--svg', $path, ...$options);
        $svg = new \DOMDocument();
        self::assertTrue($svg->load($path, LIBXML_NONET));  // a fault is a warning, which fails the test
        unlink($path);
        return $svg;
    }
}
