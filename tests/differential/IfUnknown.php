<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Stands for the callable of a Map on its way to a worker. */
final readonly class IfUnknown
{
    public const RESULTS = ['types', 'places', 'names', 'null', 'text', 'exception'];

    public function __construct(public string $result)
    {
    }

    public function closure(): \Closure
    {
        $type = static fn (string|int $key): int => is_int($key) ? 1 : strlen($key) + 2;
        return match ($this->result) {
            'types' => static fn (array|string|int $keys): mixed => is_array($keys) ? array_combine($keys, array_map($type, $keys)) : $type($keys),
            'places' => static fn (mixed $keys): mixed => is_array($keys) ? array_slice(array_flip($keys), 1, null, true) : 7,
            'names' => static fn (mixed $keys): mixed => ['x', is_array($keys) ? 'y' : "$keys"],
            'null' => static fn (): mixed => null,
            'text' => static fn (): mixed => '3',
            'exception' => static fn (): mixed => throw new \DomainException('unknown'),
        };
    }
}
