<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Program;

/** A question to which the implementations gave answers that differ or are not true. */
final readonly class Finding
{
    public function __construct(private Story $story, private Question $question, private string $wrong)
    {
    }

    /** Prints it, and keeps its set's folder below that one. */
    public function show(string $kept): void
    {
        $seed = $this->story->seed;
        $folder = "$kept/$seed";
        $text = "finding: {$this->describe()}\n  again: tests/differential/run BUILD_DIRECTORY --seed $seed; its files: $folder\n";
        Program::succeed(['rm', '-rf', $folder]);
        Program::succeed(['mkdir', '-p', $folder]);
        if (file_exists($this->story->folder())) {
            Program::succeed(['cp', '-a', '--', $this->story->folder(), $folder]);
        }
        file_put_contents("$folder/finding", $text);
        echo $text;
    }

    private function describe(): string
    {
        $settings = http_build_query($this->story->settings, '', ' ');
        $lines = ["seed {$this->story->seed}" . ($settings === '' ? '' : ", $settings")];
        foreach ($this->story->steps as $number => $step) {
            $lines[] = '  ' . $number + 1 . ". $step";
        }
        $lines[] = '  ' . $this->question->describe();
        $lines[] = "  $this->wrong";
        return implode("\n", $lines);
    }
}
