<?php

declare(strict_types=1);

namespace KeySieve\Build;

use KeySieve\Reader\Kind;

/**
 * Builds sets that are defined in code. `as_of` is the moment before a source is asked. If the source throws, has a value that can be no
 * key, or has far fewer keys than before, or if another run that began later was faster, nothing is replaced.
 */
final class SourceBuild
{
    private const HEADER_BYTES = 4096; // of a snapshot, with its checksum at the end
    private const AS_OF = 80; // there

    /**
     * @param float $maxShrink the share of its keys that a set may lose from one build to the next
     * @param ?\Closure(int): mixed $progress as in Builder
     */
    public function __construct(private readonly float $maxShrink = 0.2, private readonly ?\Closure $progress = null)
    {
        if (!($maxShrink >= 0 && $maxShrink <= 1)) {
            throw new \ValueError("maxShrink must be 0 to 1, not $maxShrink");
        }
    }

    /** As the option --max-shrink gives it. */
    public static function shrink(string $given): float
    {
        return filter_var($given, FILTER_VALIDATE_FLOAT, FILTER_NULL_ON_FAILURE) ?? throw new \ValueError("--max-shrink must be 0 to 1, not \"$given\"");
    }

    /**
     * Builds all, or those that are named. A source that throws does not hold up the others.
     *
     * @param iterable<SetSource|\Closure(): SetSource> $sources closures, so that one that cannot be made holds up no other, by a name for messages
     * @param list<string> $names
     * @param string $to a folder, "directory:" and the path of one, to publish there, or the URL of a store
     * @param callable(string): mixed $say takes a line about each
     * @return bool whether all went well
     */
    public function all(iterable $sources, array $names, string $to, callable $say): bool
    {
        $isWell = true;
        $missing = array_flip($names);
        foreach ($sources as $name => $source) {
            $name = is_string($name) ? $name : get_debug_type($source);
            try {
                $source = $source instanceof \Closure ? $source() : $source;
                $name = $source->name();
                if ($names !== [] && !in_array($name, $names, true)) {
                    continue;
                }
                unset($missing[$name]);
                $scheme = preg_match('/\A([a-z][a-z+-]+):/', $to, $match) === 1 ? $match[1] : null;
                [$count, $where] = match ($scheme) {
                    null => [$this->toFolder($source, $to), "in $to"],
                    'directory' => [$this->publish($source, substr($to, strlen('directory:'))), 'published'],
                    default => [$this->toStore($source, $to), "in the $scheme store"], // the rest may be a password
                };
                $say("$name: $count keys, $where");
            } catch (\Throwable $failure) {
                $isWell = false;
                $say("$name: is not built, and what was there stays: {$failure->getMessage()}");
            }
        }
        foreach (array_keys($missing) as $name) {
            $say("$name: no source has this name");
        }
        return $isWell && $missing === [];
    }

    /**
     * Writes SET.ks in the folder: for the source files:FOLDER of the package, and for `keysieve publish`.
     *
     * @return int how many keys it has
     * @throws WrongKeys|CannotWrite
     */
    public function toFolder(SetSource $source, string $folder): int
    {
        $path = "$folder/{$source->name()}.ks";
        if (!is_dir($folder)) {
            NewFile::attempt($folder, static fn () => mkdir($folder, 0777, true));
        }
        $bytes = $this->bytes($source, static fn (): string => $path);
        NewFile::replace($path, $bytes);
        return self::keysIn($bytes);
    }

    /**
     * Publishes as Builder::publish() does.
     *
     * @return int how many keys it has
     * @throws WrongKeys|CannotWrite
     */
    public function publish(SetSource $source, string $directory): int
    {
        $publication = new Publication($directory, $source->name());
        $bytes = $this->bytes($source, $publication->snapshot(...));
        $publication->replace($bytes);
        return self::keysIn($bytes);
    }

    /**
     * @param \Closure(): string $pathNow of the snapshot that is there, if there is one, when the new one is ready
     * @throws WrongKeys|CannotWrite
     */
    private function bytes(SetSource $source, \Closure $pathNow): string
    {
        $asOf = time();
        $builder = new Builder($source->name(), $source->fpr(), self::profile($source), $asOf, allowSuspectKeys: $source instanceof AllowsSuspectKeys, progress: $this->progress);
        $bytes = $builder->add($this->keys($source))->bytes();
        $count = self::keysIn($bytes);
        $path = $pathNow();
        $header = self::headerAt($path);
        $before = $header === null ? 0 : self::keysIn($header);
        $this->checkCount($count, $before);
        if ($header !== null && Kind::word($header, self::AS_OF) > $asOf) {
            throw new CannotWrite("$path: is as of a later moment, from a build that began after this one: remove it if a clock was wrong");
        }
        return $bytes;
    }

    /**
     * Builds by `keysieve build`, from a file that has all keys, and pushes to a store, whose sets keep their seed and guards.
     *
     * @param string $program the path of keysieve
     * @return int how many keys were given to it
     * @throws WrongKeys|CannotWrite with what the program said
     */
    public function toStore(SetSource $source, string $url, string $program = 'keysieve'): int
    {
        $asOf = time();
        $path = (string) tempnam(sys_get_temp_dir(), 'keysieve-');
        $count = 0;
        $suspects = new SuspectKeys(); // of a list with NULs the program expects anything
        $list = NewFile::attempt($path, static fn () => fopen($path, 'wb'));
        try {
            foreach ($this->keys($source) as $key) {
                if (str_contains($key, "\0")) {
                    throw new WrongKeys('a key holds a NUL, which ends keys in a list: ' . SuspectKeys::examples([$key]));
                }
                NewFile::attempt($path, static fn () => fwrite($list, "$key\0") === strlen($key) + 1);
                $suspects->see($key);
                if (++$count % 65_536 === 0 && $this->progress !== null) {
                    ($this->progress)($count);
                }
            }
            fclose($list);
            $this->checkCount($count, 0); // the program compares it with what is in the store
            $allowed = $source instanceof AllowsSuspectKeys ? ['--allow-suspect-keys'] : [];
            $allowed === [] && $suspects->check();
            $settings = ['--set', $source->name(), '--fpr', (string) $source->fpr(), '--as-of', "@$asOf", '--key-profile', self::profile($source)];
            $shrink = ['--max-shrink', (string) $this->maxShrink, ...($this->maxShrink < 1 ? [] : ['--min-keys', '0'])];
            self::run([$program, 'build', ...$settings, ...$shrink, ...$allowed, '--like', $url, '-0', $path, '-o', "$path.ks"]);
            self::run([$program, 'push', ...$shrink, "$path.ks", $url]);
            return $count;
        } finally {
            array_map('unlink', array_filter([$path, "$path.ks"], 'is_file'));
        }
    }

    /**
     * @return \Generator<int, string>
     * @throws WrongKeys after all values were read, if some can be no keys: it shows them
     */
    private function keys(SetSource $source): \Generator
    {
        $function = $source->keyFunction();
        $wrong = [];
        foreach ($source->values() as $value) {
            if (!is_string($value) && !is_int($value)) { // a NULL of a database is no key
                throw new \TypeError('a value must be string|int, ' . get_debug_type($value) . ' given');
            }
            $key = $function === null ? (string) $value : $function::of((string) $value);
            if ($key !== null) {
                yield $key;
            } elseif (count($wrong) < SuspectKeys::SHOWN) {
                $wrong[] = (string) $value;
            }
        }
        if ($wrong !== []) {
            throw new WrongKeys("no keys by $function: " . SuspectKeys::examples($wrong));
        }
    }

    /** @throws WrongKeys */
    private function checkCount(int $count, int $before): void
    {
        if ($count < $before * (1 - $this->maxShrink) || ($count === 0 && $this->maxShrink < 1)) {
            throw new WrongKeys("$count keys, after $before, are too few: is the source complete? --max-shrink 1 allows any number");
        }
    }

    private static function profile(SetSource $source): string
    {
        $function = $source->keyFunction();
        return $function === null ? '' : $function::profile();
    }

    /** Of a snapshot; null if there is none, or its header is damaged. */
    private static function headerAt(string $path): ?string
    {
        $header = is_file($path) ? NewFile::attempt($path, static fn () => file_get_contents($path, length: self::HEADER_BYTES)) : '';
        $isWhole = hash('xxh3', substr($header, 0, -8), true) === strrev(substr($header, -8));
        return strlen($header) === self::HEADER_BYTES && str_starts_with($header, 'KEYSIEVE') && $isWhole ? $header : null;
    }

    private static function keysIn(string $header): int
    {
        return Kind::word($header, 40);
    }

    /** @param list<string> $command */
    private static function run(array $command): void
    {
        // @phpstan-ignore argument.type (it knows no redirection)
        $process = @proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes) ?: throw new CannotWrite("$command[0]: cannot be started");
        $said = trim((string) stream_get_contents($pipes[1]));
        $status = proc_close($process);
        if ($status !== 0) {
            $said = $said === '' ? "$command[0]: " . ($status === 127 ? 'is not installed' : "exit status $status") : $said;
            throw $status === 65 ? new WrongKeys($said) : new CannotWrite($said);
        }
    }
}
