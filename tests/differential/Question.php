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
        $of = $this->set === null ? '' : (count($this->set) === 2 ? 'new Map(' : 'new Set(') . Shown::elements($this->set) . ')->';
        return "$of$this->call(" . Shown::elements($this->arguments) . ($this->isStrict ? '), strict' : '), coercive');
    }
}
