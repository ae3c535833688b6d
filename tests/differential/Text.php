<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** What PHP converts to a string, unless the caller is strict. */
final readonly class Text implements \Stringable
{
    public function __construct(public string $text)
    {
    }

    public function __toString(): string
    {
        return $this->text;
    }
}
