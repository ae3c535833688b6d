<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** What must be true of every answer about a set, as far as it is known. */
final class Truth
{
    /** @var list<string> keys that are in the set: no answer may be absent */
    public array $certain = [];
    /** @var list<string> keys that are absent whenever the set is ready */
    public array $absent = [];
    /** Whether the current publication cannot be read. */
    private bool $nothingIsAbsent = false;

    public function publish(Content $content): void
    {
        $this->nothingIsAbsent = !$content->isReadable;
        $this->certain = $content->keys;
        $this->absent = $content->absent;
    }

    /** @param list<string> $keys the layer that has them takes other keys for them, too */
    public function add(array $keys): void
    {
        array_push($this->certain, ...$keys);
        $this->absent = [];
    }

    /** @param list<string> $before keys that were certain before the last publication: without a control page, older ones may answer */
    public function doubt(array $before): void
    {
        $this->certain = array_values(array_intersect($this->certain, $before));
        $this->nothingIsAbsent = false;
    }

    public function forget(): void
    {
        $this->certain = $this->absent = [];
        $this->nothingIsAbsent = false;
    }

    /**
     * @param array<string, mixed> $answer
     * @return ?string what is not true; null: nothing
     */
    public function violation(Question $question, array $answer): ?string
    {
        if ($question->call !== 'mayContainMany' || !isset($answer['returned'])) {
            return null;
        }
        $isReady = in_array(false, $answer['returned'], true);
        [$certain, $absent] = [array_flip($this->certain), array_flip($this->absent)];
        foreach (array_intersect_key($question->arguments[0]->elements, $answer['returned']) as $index => $key) {
            $maybe = $answer['returned'][$index];
            if (!$maybe && ($this->nothingIsAbsent || (is_string($key) && isset($certain[$key])))) {
                return Comparison::shown($key) . ' is absent';
            }
            if ($maybe && $isReady && is_string($key) && isset($absent[$key])) {
                return Comparison::shown($key) . ' is maybe, though it is known to be absent';
            }
        }
        return null;
    }
}
