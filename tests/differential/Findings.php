<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Program;

/** Prints each finding when it is the first of its like, and keeps its set's folder. */
final class Findings
{
    private const MOST_SHOWN = 30;

    /** @var array<string, int> how often, by likeness */
    private array $likes = [];

    public function __construct(private readonly string $kept)
    {
    }

    public function count(): int
    {
        return count($this->likes);
    }

    public function add(Finding $finding, float $second): void
    {
        $likeness = $finding->likeness();
        $this->likes[$likeness] = 1 + ($this->likes[$likeness] ?? 0);
        if ($this->likes[$likeness] > 1 || $this->count() > self::MOST_SHOWN) {
            return;
        }
        $seed = $finding->story->seed;
        $folder = "$this->kept/$seed";
        $text = sprintf("finding %d, after %.1f s: %s\n  again: tests/differential/run BUILD_DIRECTORY --seed %d; its files: %s\n",
            $this->count(), $second, $finding->describe(), $seed, $folder);
        Program::succeed(['rm', '-rf', $folder]);
        Program::succeed(['mkdir', '-p', $folder]);
        if (file_exists($finding->story->folder())) {
            Program::succeed(['cp', '-a', '--', $finding->story->folder(), $folder]);
        }
        file_put_contents("$folder/finding", $text);
        echo $text;
    }
}

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
