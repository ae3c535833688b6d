<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** A question to which the implementations gave answers that differ or are not true. */
final readonly class Finding
{
    public function __construct(public Story $story, public Question $question, public string $wrong)
    {
    }

    /** The same for findings that look alike. */
    public function likeness(): string
    {
        $argument = is_float($this->question->arguments[count($this->question->arguments) - 1] ?? null) ? 'a float' : '';
        $text = "{$this->question->call} $argument: $this->wrong";
        return preg_replace(['/\\\\"[^"]*\\\\"/', '/\b(s|n|0x)?\d[\d.a-f]*/', '~/\w+(?=:)~'], ['""', '#', '/#'], $text);
    }

    public function describe(): string
    {
        $story = $this->story;
        $settings = http_build_query($story->settings, '', ' ');
        $lines = ["seed $story->seed" . ($settings === '' ? '' : ", $settings")];
        foreach ($story->steps as $number => $step) {
            $lines[] = '  ' . $number + 1 . ". $step";
        }
        $lines[] = '  ' . $this->question->describe();
        $lines[] = "  $this->wrong";
        return implode("\n", $lines);
    }
}
