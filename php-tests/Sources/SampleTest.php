<?php

declare(strict_types=1);

namespace KeySieve\Tests\Sources;

use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SourceTestCase;

/** The set that comes with the package. */
final class SampleTest extends SourceTestCase
{
    private const SAMPLE = __DIR__ . '/../../php/sample/tags.ks';

    public function testItAnswers(): void
    {
        $script = $this->ask('files:' . dirname(self::SAMPLE), '$say((new Set("tags"))->mayContainMany(["猫", "桜", "温泉", "犬"]));');
        self::assertSame("[[true,true,true,false]]\n", $script->output);
    }

    /** To build it again, for a new format: this command, with the old file for --like. */
    public function testItIsWhatTheBuildMakesOfItsKeys(): void
    {
        file_put_contents("$this->folder/tags.txt", "猫\n桜\n温泉\n");
        $options = ['--like', self::SAMPLE, '--as-of', '2026-01-01T00:00:00Z'];
        Program::keysieve('build', '--set', 'tags', '--fpr', '0.01', ...$options, ...["$this->folder/tags.txt", '-o', "$this->folder/tags.ks"]);
        self::assertSame($this->facts("$this->folder/tags.ks"), $this->facts(self::SAMPLE));
    }

    /** Without those in which any two builds differ. */
    private function facts(string $snapshot): string
    {
        return preg_replace('/^(file|build id|built at) .*\n/m', '', Program::keysieve('inspect', $snapshot));
    }
}
