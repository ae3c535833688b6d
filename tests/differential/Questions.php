<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Draws what both implementations are asked after a step. */
final class Questions
{
    private const CALLS = [
        'mayContain' => 30, 'mayContainMany' => 10, 'candidates' => 15, 'may_contain' => 15, 'candidate_sets' => 15,
        'get' => 10, 'getMany' => 10, 'availability' => 2, 'info' => 2,
    ];
    private const BAD_NAMES = ['', '.', 'UPPER', "nul\0byte", 'tags/x', '猫', '-x'];

    private readonly Arguments $arguments;

    /** @param string $set the story's; $companion another one that is ready */
    public function __construct(private readonly Random $random, private readonly string $set, private readonly string $companion)
    {
        $this->arguments = new Arguments($random);
    }

    /** @return list<Question> */
    public function draw(SetHistory $history): array
    {
        $random = $this->random;
        $keys = $history->truth->certain;
        $questions = [new Question('availability', [], $this->object($history))];
        if ($random->chance(0.9)) {
            $questions[] = $this->truth($history);
        }
        for ($left = $random->between(1, 5); $left > 0; --$left) {
            $questions[] = $this->any($history, $keys);
        }
        if ($random->chance(0.4)) {
            $questions[] = new Question('info', [], $this->object($history));
        }
        $isSeen = $history->isSeenAtOnce && $random->chance(0.3);
        return [...$isSeen ? [] : [new Question('begin_request')], ...$random->some($questions, count($questions)), new Question('stats')];
    }

    /** Keys of the set, known-absent ones and others; one array that is a list of strings. */
    private function truth(SetHistory $history): Question
    {
        $keys = [
            ...$this->random->some($history->truth->certain, 150),
            ...$this->random->some($history->truth->absent, 50),
            ...$this->arguments->keys($this->random->size(100)),
        ];
        return new Question('mayContainMany', [new ArrayOf($keys)], [$this->set, null, null]);
    }

    /** @param list<string> $keys */
    private function any(SetHistory $history, array $keys): Question
    {
        $isStrict = $this->random->chance(0.5);
        $value = function () use ($keys, $isStrict): mixed {
            do {
                $value = $this->arguments->value($keys, $this->random->chance(0.6));
            } while ($isStrict && is_float($value)); // see Agreed
            return $value;
        };
        $call = $this->random->weighted(self::CALLS);
        return match ($call) {
            'mayContain' => new Question($call, [$value()], $this->object($history), $isStrict),
            'mayContainMany', 'candidates' => new Question($call, [$this->arguments->many($keys)], $this->object($history), $isStrict),
            'may_contain' => new Question($call, [$this->name(), $value()], null, $isStrict),
            'candidate_sets' => new Question($call, [$this->names(), $value()], null, $isStrict),
            'get' => new Question($call, [$value(), $this->ifUnknown()], $this->map($history), $isStrict),
            'getMany' => new Question($call, [$this->arguments->many($keys), $this->ifUnknown()], $this->map($history), $isStrict),
            'availability', 'info' => new Question($call, [], $this->map($history)),
        };
    }

    /** @return array{string, ?string, ?bool} arguments of the constructor of Set */
    private function object(SetHistory $history): array
    {
        $profile = $this->random->of([null, null, null, $history->keyProfile, 'other', '']);
        return [$this->random->chance(0.98) ? $this->set : $this->name(), $profile, $this->random->of([null, null, true, false])];
    }

    /** @return array{string, ?string} arguments of the constructor of Map */
    private function map(SetHistory $history): array
    {
        return array_slice($this->object($history), 0, 2);
    }

    private function ifUnknown(): IfUnknown
    {
        return new IfUnknown($this->random->of(IfUnknown::RESULTS));
    }

    private function name(): string
    {
        return $this->random->chance(0.95) ? $this->set : $this->random->of([$this->companion, "$this->set-not-there", ...self::BAD_NAMES]);
    }

    /** @return array<mixed> */
    private function names(): ArrayOf
    {
        $random = $this->random;
        $names = [];
        for ($left = $random->size(6); $left > 0; --$left) {
            $name = $random->chance(0.01) ? $random->of([1, null, 1.5, []]) : $random->of([$this->set, $this->name(), $this->companion]);
            $random->chance(0.8) ? $names[] = $name : $names["n$left"] = $name;
        }
        return new ArrayOf($names, $names !== [] && $random->chance(0.2) ? [array_key_first($names)] : []);
    }
}
