<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Stands for an array of keys on its way to a worker. */
final readonly class ArrayOf
{
    /**
     * @param array<mixed>      $elements
     * @param array<string|int> $references places that hold references
     * @param array<string|int> $removed    places that are emptied before the call, which leaves holes in a list
     */
    public function __construct(public array $elements, public array $references = [], public array $removed = [])
    {
    }
}
