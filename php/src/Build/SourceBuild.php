<?php

declare(strict_types=1);

namespace KeySieve\Build;

/**
 * Builds sets that are defined in code. `as_of` is the moment before a source is asked. If the source throws, has a value that can be no
 * key, or has far fewer keys than before, nothing is replaced.
 */
final class SourceBuild
{
    private const SHOWN = 10;

    /**
     * @param float $maxShrink the share of its keys that a set may lose from one build to the next
     * @param ?\Closure(int): mixed $progress as in Builder
     */
    public function __construct(private readonly float $maxShrink = 0.2, private readonly ?\Closure $progress = null)
    {
    }

    /**
     * Builds all, or those that are named. One that fails does not hold up the others.
     *
     * @param iterable<SetSource> $sources
     * @param list<string> $names
     * @param string $to a folder, or the URL of a store
     * @param callable(string): mixed $say takes a line about each
     * @return bool whether all went well
     */
    public function all(iterable $sources, array $names, string $to, callable $say): bool
    {
        $isWell = true;
        $missing = array_flip($names);
        foreach ($sources as $source) {
            $name = $source->name();
            if ($names !== [] && !in_array($name, $names, true)) {
                continue;
            }
            unset($missing[$name]);
            try {
                $count = preg_match('/\A[a-z]+:/', $to) === 1 ? $this->toStore($source, $to) : $this->toFolder($source, $to);
                $say("$name: $count keys, in $to");
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
        $builder = new Builder($source->name(), $source->fpr(), self::profile($source), time(), progress: $this->progress);
        $bytes = $builder->add($this->keys($source))->bytes();
        $count = self::keysIn($bytes);
        $before = self::keysIn((string) @file_get_contents($path, length: 48));
        if ($count < $before * (1 - $this->maxShrink) || $count === 0) {
            throw new WrongKeys("{$source->name()}: $count keys after $before are too few: is the source complete?");
        }
        NewFile::replace($path, $bytes);
        return $count;
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
        $list = fopen($path, 'wb') ?: throw NewFile::failure($path);
        try {
            foreach ($this->keys($source) as $key) {
                if (@fwrite($list, "$key\0") !== strlen($key) + 1) {
                    throw NewFile::failure($path);
                }
                $suspects->see($key);
                if (++$count % 65_536 === 0 && $this->progress !== null) {
                    ($this->progress)($count);
                }
            }
            fclose($list);
            $suspects->check();
            $settings = ['--set', $source->name(), '--fpr', (string) $source->fpr(), '--as-of', "@$asOf", '--max-shrink', (string) $this->maxShrink];
            self::run([$program, 'build', ...$settings, '--key-profile', self::profile($source), '--like', $url, '-0', $path, '-o', "$path.ks"]);
            self::run([$program, 'push', "$path.ks", $url]);
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
            $key = $function === null ? (string) $value : $function::of((string) $value);
            if ($key !== null) {
                yield $key;
            } elseif (count($wrong) < self::SHOWN) {
                $wrong[] = json_encode($value, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE);
            }
        }
        if ($wrong !== []) {
            throw new WrongKeys("{$source->name()}: no keys by $function: " . implode(', ', $wrong));
        }
    }

    private static function profile(SetSource $source): string
    {
        $function = $source->keyFunction();
        return $function === null ? '' : $function::profile();
    }

    /** Of a snapshot; 0 for anything else. */
    private static function keysIn(string $bytes): int
    {
        return str_starts_with($bytes, 'KEYSIEVE') && strlen($bytes) >= 48 ? unpack('P', $bytes, 40)[1] : 0;
    }

    /** @param list<string> $command */
    private static function run(array $command): void
    {
        $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes) ?: throw new CannotWrite("$command[0]: cannot be started");
        $said = (string) stream_get_contents($pipes[1]);
        $status = proc_close($process);
        if ($status !== 0) {
            throw $status === 65 ? new WrongKeys(trim($said)) : new CannotWrite(trim($said));
        }
    }
}
