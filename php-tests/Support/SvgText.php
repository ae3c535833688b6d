<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A text of an SVG picture and about the room it takes; a browser's letters may be a little narrower or wider. */
final class SvgText
{
    /** Of the size of the letters: the mean width, and the heights above and below the base line. */
    private const LETTER_WIDTH = 0.56;
    private const ABOVE = 0.75;
    private const BELOW = 0.22;
    private const SIZES = ['title' => 17];
    private const USUAL_SIZE = 13;

    private function __construct(
        public readonly string $text,
        public readonly float $left,
        public readonly float $top,
        public readonly float $right,
        public readonly float $bottom,
    ) {
    }

    /** @return self[] every text of the picture but its title in the browser's tab */
    public static function allIn(\DOMDocument $svg): array
    {
        return array_map(self::of(...), iterator_to_array($svg->getElementsByTagName('text'), false));
    }

    public function covers(self $other): bool
    {
        return $this->left < $other->right && $other->left < $this->right
            && $this->top < $other->bottom && $other->top < $this->bottom;
    }

    private static function of(\DOMElement $element): self
    {
        $size = self::SIZES[$element->getAttribute('class')] ?? self::USUAL_SIZE;
        $x = (float) $element->getAttribute('x');
        $y = (float) $element->getAttribute('y');
        $width = self::LETTER_WIDTH * $size * mb_strlen($element->textContent);
        $before = $width * ['start' => 0.0, 'middle' => 0.5, 'end' => 1.0][$element->getAttribute('text-anchor')];
        [$above, $below] = [self::ABOVE * $size, self::BELOW * $size];
        return $element->hasAttribute('transform')  // read upwards, from the middle
            ? new self($element->textContent, $x - $above, $y - $before, $x + $below, $y + $before)
            : new self($element->textContent, $x - $before, $y - $above, $x - $before + $width, $y + $below);
    }
}
