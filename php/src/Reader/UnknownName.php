<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** What to say about a set that is not there: that no set has its name, and which one may have been meant. As core/worker/seen/unknown_name.cpp. */
final class UnknownName
{
    private const SHORTEST_BEGINNING = 3;

    /** Where a loader publishes: a folder for each set, and seen sets in one of their own. Empty if the set is there, or they cannot be listed. */
    public static function inDirectory(string $directory, string $set): string
    {
        $names = File::namesIn($directory);
        if ($names === null || in_array($set, $names, true)) {
            return '';
        }
        if (self::isFolder("$directory/seen.d/$set")) {
            return 'it is a seen set: use KeySieve\SeenSet';
        }
        return self::text($set, array_filter($names, static fn (string $name): bool => self::isFolder("$directory/$name")));
    }

    /** Where each set has a file SET.ks. */
    public static function amongFiles(string $folder, string $set): string
    {
        $files = File::namesIn($folder);
        if ($files === null || in_array("$set.ks", $files, true)) {
            return '';
        }
        $files = array_filter($files, static fn (string $file): bool => str_ends_with($file, '.ks'));
        return self::text($set, array_map(static fn (string $file): string => substr($file, 0, -strlen('.ks')), $files));
    }

    /** @param string[] $names */
    private static function text(string $set, array $names): string
    {
        $nearest = null;
        $fewest = max(1, intdiv(strlen($set), 3)) + 1;
        foreach ($names as $name) {
            if (preg_match(Header::NAME_RULE, $name) !== 1) {
                continue;
            }
            $isBeginning = strlen($set) >= self::SHORTEST_BEGINNING && str_starts_with($name, $set);
            $mistakes = $isBeginning ? 1 : self::mistakesBetween($set, $name);
            if ($mistakes < $fewest) {
                [$fewest, $nearest] = [$mistakes, $name];
            }
        }
        return 'no set has this name' . ($nearest === null ? '' : ", did you mean \"$nearest\"?");
    }

    /** Optimal string alignment, as core/worker/base/nearest_name.cpp; levenshtein() takes neighbours in the wrong order for two mistakes. */
    private static function mistakesBetween(string $a, string $b): int
    {
        $before = [];
        $last = range(0, strlen($b));
        for ($i = 1; $i <= strlen($a); ++$i) {
            $row = [$i];
            for ($j = 1; $j <= strlen($b); ++$j) {
                $wrong = $a[$i - 1] === $b[$j - 1] ? 0 : 1;
                $fewest = min($last[$j] + 1, $row[$j - 1] + 1, $last[$j - 1] + $wrong);
                if ($i > 1 && $j > 1 && $a[$i - 1] === $b[$j - 2] && $a[$i - 2] === $b[$j - 1]) {
                    $fewest = min($fewest, $before[$j - 2] + 1);
                }
                $row[] = $fewest;
            }
            [$before, $last] = [$last, $row];
        }
        return $last[strlen($b)];
    }

    private static function isFolder(string $path): bool
    {
        try {
            return ((File::statusOf($path)['mode'] ?? 0) & 0170000) === 0040000;
        } catch (Failure) {
            return false;
        }
    }
}
