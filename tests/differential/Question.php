<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** One call for both implementations. */
final readonly class Question
{
    /**
     * @param string                            $call      a method of Set or Map; without a set a function
     * @param array<mixed>                      $arguments with ArrayOf for arrays of keys, and IfUnknown for callables
     * @param ?array{string, ?string, ?bool}    $set       arguments of the constructor of Set; without the last one, of Map
     */
    public function __construct(
        public string $call,
        public array $arguments = [],
        public ?array $set = null,
        public bool $isStrict = true,
    ) {
    }

    public function describe(): string
    {
        $shown = static fn (array $arguments): string => implode(', ', array_map(Comparison::shown(...), $arguments));
        $of = $this->set === null ? '' : (count($this->set) === 2 ? 'new Map(' : 'new Set(') . $shown($this->set) . ')->';
        return "$of$this->call({$shown($this->arguments)})" . ($this->isStrict ? ', strict' : ', coercive');
    }
}

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
