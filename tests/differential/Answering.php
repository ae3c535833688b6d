<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Availability;
use KeySieve\Info;
use KeySieve\Map;
use KeySieve\Set;
use KeySieve\UnavailableException;

/** Answers questions by the implementation that its process has loaded. An answer is made of arrays and scalars. */
final class Answering
{
    /** @var array{strict: \Closure, coercive: \Closure} */
    private readonly array $callers;
    /** @var array<string, Set|Map> */
    private array $sets = [];
    /** @var array<mixed> variables to which arguments hold references */
    private array $others = [];

    public function __construct()
    {
        $caller = 'return static fn (callable $function, array $arguments): mixed => $function(...$arguments);';
        $this->callers = ['strict' => eval("declare(strict_types=1); $caller"), 'coercive' => eval($caller)];
    }

    /** @return array<string, mixed> what was returned or thrown; what PHP said; the arguments if they were changed */
    public function answer(Question $question): array
    {
        $notices = [];
        set_error_handler(static function (int $level, string $message) use (&$notices): bool {
            $notices[] = "$level: $message";
            return true;
        });
        try {
            $arguments = array_map($this->made(...), $question->arguments);
            $before = $this->described($arguments);
            $answer = ['returned' => $this->described($this->ask($question, $arguments))];
        } catch (\Throwable $thrown) {
            $answer = ['threw' => self::thrown($thrown)];
        } finally {
            restore_error_handler();
        }
        $after = $this->described($arguments ?? []);
        return $answer + ($notices === [] ? [] : ['notices' => $notices]) + ($after === ($before ?? []) ? [] : ['arguments' => $after]);
    }

    /** @param array<mixed> $arguments */
    private function ask(Question $question, array $arguments): mixed
    {
        $call = $this->callers[$question->isStrict ? 'strict' : 'coercive'];
        return $call($question->set === null ? "KeySieve\\$question->call" : [$this->set($question->set), $question->call], $arguments);
    }

    /** @param array{string, ?string, ?bool} $arguments as of a Question; the same object for the same ones */
    private function set(array $arguments): Set|Map
    {
        return $this->sets[serialize($arguments)] ??= count($arguments) === 2 ? new Map(...$arguments) : new Set(...$arguments);
    }

    private function made(mixed $argument): mixed
    {
        if ($argument instanceof IfUnknown) {
            return $argument->closure();
        }
        if (!$argument instanceof ArrayOf) {
            return $argument;
        }
        $elements = array_map($this->made(...), $argument->elements);
        $this->others = [];
        foreach ($argument->references as $index) {
            $this->others[$index] = $elements[$index];
            $elements[$index] = &$this->others[$index];
        }
        foreach ($argument->removed as $index) {
            unset($elements[$index]);
        }
        return $elements;
    }

    private function described(mixed $value): mixed
    {
        return match (true) {
            is_array($value) => $this->describedArray($value),
            is_float($value) => ['float', var_export($value, true)],
            $value instanceof Availability => ['Availability', $value->name],
            $value instanceof Info => array_map($this->described(...), get_object_vars($value)),
            $value instanceof \DateTimeImmutable => [$value->format('U.u'), $value->getTimezone()->getName()],
            is_object($value) => [get_class($value), $value instanceof Text ? $value->text : ''],
            default => $value,
        };
    }

    /**
     * @param array<mixed> $array
     * @return array<string|int, mixed> in its order
     */
    private function describedArray(array $array): array
    {
        $described = [];
        foreach (array_keys($array) as $index) {
            $isReference = \ReflectionReference::fromArrayElement($array, $index) !== null;
            $described[$index] = $isReference ? ['a reference to', $this->described($array[$index])] : $this->described($array[$index]);
        }
        return $described;
    }

    /** @return array<string, mixed> */
    private static function thrown(\Throwable $thrown): array
    {
        return ['class' => $thrown::class, 'message' => $thrown->getMessage(), 'code' => $thrown->getCode()]
            + ($thrown instanceof UnavailableException ? ['set' => $thrown->set, 'availability' => $thrown->availability->name] : [])
            + ($thrown->getPrevious() === null ? [] : ['previous' => self::thrown($thrown->getPrevious())]);
    }
}
