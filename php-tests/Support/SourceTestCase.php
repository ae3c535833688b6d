<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** The package in PHP, which asks for the set "fruits" in a file. */
abstract class SourceTestCase extends TestCase
{
    protected Folder $folder;
    protected Clock $clock;

    protected function setUp(): void
    {
        $this->folder = new Folder('sources');
        $this->clock = new Clock();
    }

    /** Runs code with $set, which asks the source, $say(), which writes JSON, and $later(), which moves the clock. */
    protected function ask(string $source, string $code): Program
    {
        $prelude = <<<'PHP'
            $set = new Set('fruits');
            $say = fn (mixed ...$what) => print(json_encode($what) . "\n");
            $later = fn (int $seconds) => fwrite(fopen(getenv('FAKETIME_TIMESTAMP_FILE'), 'c'), (string) (time() + $seconds));

            PHP;
        return PhpScript::run($prelude . $code, ['keysieve.directory' => ''], environment: ['KEYSIEVE_SOURCE' => $source, 'NO_FAKE_STAT' => '1'] + $this->clock->environment());
    }

    /** @param array<string|int> $keys */
    protected function build(array $keys, array $options = []): string
    {
        $snapshot = tempnam((string) $this->folder, 'built-');
        Program::keysieve('build', '--set', 'fruits', '--fpr', '0.0001', ...$options, ...[$this->list('keys', $keys), '-o', $snapshot]);
        return $snapshot;
    }

    protected function buildFile(array $keys, array $options = []): void
    {
        rename($this->build($keys, $options), "$this->folder/fruits.ks");
    }

    /** @param array<string|int> $keys */
    protected function list(string $name, array $keys): string
    {
        file_put_contents("$this->folder/$name.list", implode("\n", $keys) . "\n");
        return "$this->folder/$name.list";
    }
}
