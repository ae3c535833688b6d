<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** The picture of `keysieve plan --svg`, read by a parser of XML and looked at as a reader would. */
final class PlanSvgTest extends TestCase
{
    /** In sizes of a letter: its mean width, and its heights above and below the base line. */
    private const LETTER_WIDTH = 0.56;
    private const ABOVE = 0.75;
    private const BELOW = 0.22;
    private const TITLE_SIZE = 17;
    private const USUAL_SIZE = 13;

    /** @return iterable<string, array{string[]}> */
    public static function plans(): iterable
    {
        yield 'usual' => [['--keys', '80000']];
        yield 'low FPR' => [['--keys', '100000000', '--fpr', '0.000001', '--shard-size', '8KiB']];
        yield 'high FPR' => [['--keys', '1000', '--fpr', '0.5', '--shard-size', '1KiB']];
        yield 'growth' => [['--keys', '5000000', '--fpr', '0.25%', '--shard-size', '2KiB', '--growth', '2']];
        yield 'few keys' => [['--keys', '3', '--fpr', '2%']];
    }

    /** @param string[] $options */
    #[DataProvider('plans')]
    public function testEveryTextIsInThePictureAndCoversNoOther(array $options): void
    {
        $path = tempnam(sys_get_temp_dir(), 'keysieve-plan');
        Program::keysieve('plan', '--svg', $path, ...$options);
        $svg = new \DOMDocument();
        self::assertTrue($svg->load($path, LIBXML_NONET)); // a fault is a warning, which fails the test
        $picture = $svg->documentElement;
        self::assertSame(['svg', 'http://www.w3.org/2000/svg'], [$picture->localName, $picture->namespaceURI]);

        [$width, $height] = [(float) $picture->getAttribute('width'), (float) $picture->getAttribute('height')];
        $rooms = array_map(self::room(...), iterator_to_array($svg->getElementsByTagName('text'), false));
        self::assertGreaterThan(20, count($rooms));
        foreach ($rooms as $i => [$text, $left, $top, $right, $bottom]) {
            self::assertGreaterThanOrEqual(0.0, min($left, $top), $text);
            self::assertLessThanOrEqual($width, $right, $text);
            self::assertLessThanOrEqual($height, $bottom, $text);
            foreach (array_slice($rooms, $i + 1) as [$other, $otherLeft, $otherTop, $otherRight, $otherBottom]) {
                $isCovered = $left < $otherRight && $otherLeft < $right && $top < $otherBottom && $otherTop < $bottom;
                self::assertFalse($isCovered, "\"$text\" and \"$other\"");
            }
        }
    }

    public function testThePageAboutKindsShowsWhatPlanDraws(): void
    {
        $path = tempnam(sys_get_temp_dir(), 'keysieve-plan');
        Program::keysieve('plan', '--keys', '80000', '--fpr', '0.01', '--svg', $path);
        $documented = __DIR__ . '/../docs/choose_a_filter/plan.svg';
        self::assertFileEquals($path, $documented, 'draw it again with the command of docs/choose_a_filter.md');
    }

    public function testBeginsWithTheRecommendedKind(): void
    {
        $plans = [
            'split_block_bloom' => [],
            'cuckoo' => ['--removals', '--fpr', '0.1%'],
            'ribbon' => ['--static', '--fpr', '0.0001%'],
        ];
        foreach ($plans as $kind => $options) {
            $path = tempnam(sys_get_temp_dir(), 'keysieve-plan');
            Program::keysieve('plan', '--keys', '80000', '--svg', $path, ...$options);
            $picture = (string) file_get_contents($path);
            self::assertStringContainsString("Dot: recommended: $kind.", $picture);
            self::assertLessThan(strpos($picture, 'FPR of bloom'), strpos($picture, 'Dot: recommended'));
        }
    }

    /**
     * A text, and about the room it takes: a browser's letters may be a little narrower or wider.
     *
     * @return array{string, float, float, float, float} text, left, top, right, bottom
     */
    private static function room(\DOMElement $element): array
    {
        $text = $element->textContent;
        $size = $element->getAttribute('class') === 'title' ? self::TITLE_SIZE : self::USUAL_SIZE;
        [$x, $y] = [(float) $element->getAttribute('x'), (float) $element->getAttribute('y')];
        $width = self::LETTER_WIDTH * $size * mb_strlen($text);
        $before = $width * ['start' => 0.0, 'middle' => 0.5, 'end' => 1.0][$element->getAttribute('text-anchor')];
        [$above, $below] = [self::ABOVE * $size, self::BELOW * $size];
        return $element->hasAttribute('transform') // read upwards, from the middle
            ? [$text, $x - $above, $y - $before, $x + $below, $y + $before]
            : [$text, $x - $before, $y - $above, $x - $before + $width, $y + $below];
    }
}
