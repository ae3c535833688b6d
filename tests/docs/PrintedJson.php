<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Program;

/** What `keysieve VERB --json` prints, of every verb and with every member that its schema knows: run() calls each. */
final class PrintedJson
{
    /** @var array<string, object[]> by the name of the schema */
    private array $printed = [];
    private readonly Folder $folder;
    private readonly string $store;

    private function __construct()
    {
        $this->folder = new Folder('json');
        $this->store = "dir:{$this->folder}/store";
        foreach (['sets', 'store', 'cache'] as $name) {
            mkdir("{$this->folder}/$name", 0700);
        }
        file_put_contents("{$this->folder}/keys", implode("\n", range(1, 100)) . "\n");
        file_put_contents("{$this->folder}/absent", "a\nb\n1\n");
        file_put_contents("{$this->folder}/values", "a\t1\nb\t2\n");
    }

    /** @return array<string, object[]> */
    public static function all(): array
    {
        static $all = null;
        return $all ??= (new self())->run();
    }

    private function run(): array
    {
        $this->files();
        $this->stores();
        $this->sharedMemory();
        $this->seenSets();
        return $this->printed;
    }

    private function files(): void
    {
        [$keys, $absent, $values] = ["{$this->folder}/keys", "{$this->folder}/absent", "{$this->folder}/values"];
        $this->print('plan', '--keys', '100', '--fpr', '1e-9');
        $this->print('build', '--set', 'tags', '--known-absent', $absent, $keys, '-o', "{$this->folder}/both.ks");
        $this->print('build', '--set', 'tags', '--like', $this->store, $keys, '-o', "{$this->folder}/tags.ks");
        $this->print('build', '--set', 'numbers', '--values', $values, '-o', "{$this->folder}/numbers.ks");
        $this->print('keygen', "{$this->folder}/key");
        $this->print('keygen', '--show', "{$this->folder}/key");
        $this->print('build', '--set', 'signed', '--sign-key', "{$this->folder}/key", $keys, '-o', "{$this->folder}/signed.ks");
        foreach (['both', 'tags', 'numbers', 'signed'] as $name) {
            $this->print('inspect', "{$this->folder}/$name.ks");
        }
        $this->print('verify', "{$this->folder}/tags.ks", '--keys', $keys, '--absent', $absent);
        $this->print('verify', "{$this->folder}/both.ks", '--keys', $keys, '--known-absent', $absent);
        foreach (['numbers a zzz', 'tags 1 zzz'] as $question) {
            [$set, $first] = explode(' ', $question, 2);
            $this->print('query', '--file', "{$this->folder}/$set.ks", $set, ...explode(' ', $first));
        }
        $this->print('inspect', "{$this->folder}/missing.ks"); // an error
    }

    private function stores(): void
    {
        $this->print('list', $this->store);
        $this->print('push', "{$this->folder}/both.ks", $this->store);
        $this->print('push', '--dry-run', "{$this->folder}/tags.ks", $this->store);
        $this->print('push', "{$this->folder}/tags.ks", $this->store);
        $this->print('pull', 'tags', $this->store, '-o', "{$this->folder}/pulled.ks");
        $this->print('add', 'tags', 'new', $this->store);
        $this->print('bypass', 'tags', '--store', $this->store, '--for', '1h');
        $this->print('bypass', '--store', $this->store);
        $this->print('bypass', '--store', $this->store, '--show');
        $this->print('rollback', 'tags', '--list', $this->store);
        $this->print('rollback', 'tags', '--yes', $this->store);
        $this->print('list', $this->store);
        $this->print('seed', $this->store);
        $this->print('seed', '--new', $this->store);
        $this->print('delete', 'tags', '--yes', $this->store);
    }

    private function sharedMemory(): void
    {
        foreach (['tags', 'words'] as $set) {
            $this->print('publish', "{$this->folder}/$set.ks");
        }
        mkdir("{$this->folder}/sets/empty");
        $this->print('query', 'tags', '1');
        $this->print('bypass', 'tags', '--for', '1h');
        $this->print('bypass', 'tags');
        $this->print('query', 'tags', '1'); // a note says why it is maybe
        $this->print('doctor');
        $this->print('status');
    }

    private function seenSets(): void
    {
        $config = "{$this->folder}/keysieve.toml";
        file_put_contents($config, implode("\n", [
            "directory = \"{$this->folder}/sets\"",
            "cache = \"{$this->folder}/cache\"",
            '[store.main]',
            "url = \"{$this->store}\"",
            '[[seen]]',
            'name = "clicks"',
            'keys = 100',
            'window = "1h"',
            'on_unavailable = "new"',
            '',
        ]));
        $loader = new Background($this->folder, [getenv('KEYSIEVE_BIN_DIR') . '/keysieved', '--config', $config]);
        if (!Deadline::reaches(fn (): bool => $this->keysieve('query', 'clicks', 'ada')->status === 1)) {
            throw new \RuntimeException($loader->output());
        }
        $this->print('query', 'clicks', 'ada');
        $this->print('status');
        $this->print('bypass', 'clicks', '--for', '1h');
        $loader->end(SIGTERM);
        $this->print('delete', 'clicks', '--yes');
        $this->print('delete', 'clicks', '--yes', '--store', $this->store);
    }

    private function print(string $verb, string ...$arguments): void
    {
        $program = $this->keysieve($verb, '--json', ...$arguments);
        if ($program->output !== '') {
            $this->printed[$verb][] = json_decode($program->output, false, flags: JSON_THROW_ON_ERROR);
        }
        foreach (array_filter(explode("\n", $program->errors)) as $line) {
            $this->printed['error'][] = json_decode($line, false, flags: JSON_THROW_ON_ERROR);
        }
    }

    private function keysieve(string ...$words): Program
    {
        return Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', ...$words], $this->environment());
    }

    /** @return array<string, string> */
    private function environment(): array
    {
        return ['KEYSIEVE_DIRECTORY' => "{$this->folder}/sets"];
    }
}
