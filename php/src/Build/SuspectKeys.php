<?php

declare(strict_types=1);

namespace KeySieve\Build;

/**
 * Looks at the first and the last 64 KiB of a list for what is no key: a message of the program that wrote it, CSV, JSON, quotes. The rules
 * are those of `keysieve build`, tools/keys/suspect_lines.cpp, where it refuses a list; what it only warns of passes here.
 */
final class SuspectKeys
{
    /** So many wrong keys an exception shows at most. */
    public const SHOWN = 10;
    private const SAMPLE_BYTES = 65_536;
    private const OUTER = 5; // keys at either end, among which a message is looked for
    private const EXAMPLES = 3;
    private const EXAMPLE_BYTES = 40;
    private const MESSAGE = '/^[ \t]*(?:(?:ERROR|FATAL):  |ERROR (?:.* )?\(|(?:psql|pg_dump|mysql|mysqldump|mariadb|mariadb-dump): |SQLSTATE\['
        . '|Runtime error near line |NOAUTH |\(error\) |Could not connect to Redis|curl: \(|sh: 1: |bash: line '
        . '|Traceback \(most recent call last\):|<!DOCTYPE html|<html|PHP (?:Fatal error|Parse error|Warning|Notice):  '
        . '|(?:PHP )?(?:<b>)?(?:Fatal error|Parse error|Warning|Notice|Deprecated|Uncaught|thrown in).* on line )|<\/html>[ \t]*$/';
    private const PAGE = '/^[ \t]*<(?:!doctype|html|head|body|\?xml|\?php|!--|h1|title)/i';
    private const TABLE = '/^(?:\x{250C}|1\) "|\*{4}.*\. row \*|\+-(?:.*-)?\+$)/u';
    private const SPACE_AT_AN_EDGE = '/^(?:[ \t\r\n]|\xC2\xA0|\xE3\x80\x80)|(?:[ \t\r\n]|\xC2\xA0|\xE3\x80\x80)$/D';
    private const SEPARATORS = [',' => 'comma', ';' => 'semicolon', "\t" => 'tab', '|' => 'bar'];

    /** @var list<string> */
    private array $first = [];
    /** @var list<string> up to twice the sample, in two halves */
    private array $last = [];
    /** @var list<string> */
    private array $beforeLast = [];
    private int $bytes = 0;
    private bool $isFirst = true;

    public function see(string $key): void
    {
        $this->last[] = $key;
        $this->bytes += strlen($key) + 1;
        if ($this->bytes >= self::SAMPLE_BYTES) {
            $this->first = $this->isFirst ? $this->last : $this->first;
            [$this->beforeLast, $this->last, $this->bytes, $this->isFirst] = [$this->last, [], 0, false];
        }
    }

    /** @throws WrongKeys */
    public function check(): void
    {
        $first = self::notEmpty($this->isFirst ? $this->last : $this->first);
        $last = self::notEmpty([...$this->beforeLast, ...$this->last]);
        if ($first === []) {
            return;
        }
        self::refuse(self::messages($first, $last), 'a program failed while it wrote the list, which may be incomplete');
        self::refuse(str_starts_with($first[0], "\xEF\xBB\xBF") ? $first : [], 'the first key begins with a byte order mark');
        self::refuse(preg_match(self::PAGE, $first[0]) === 1 ? $first : [], 'this is a page of HTML or XML');
        self::refuse(self::isJson($first, $last) ? $first : [], 'keys are JSON');
        self::refuse(self::isTable($first, $last) ? $first : [], 'this is a table that a database client drew');
        $quoted = self::matching('/^(?:"(?:.*)"|\'(?:.*)\'),?$/s', $first);
        self::refuse(self::areMost(count($quoted), $first) ? $quoted : [], 'keys are in quotes, which become part of them');
        self::refuse(self::quotedFields($first), 'keys are quoted as in CSV, and the quotes become part of them');
        self::checkColumns($first);
        foreach ([$first, $last] as $keys) {
            self::refuseMany(self::matching(self::SPACE_AT_AN_EDGE, $keys), $keys, 'keys begin or end with a space or line break, which becomes part of them');
            self::refuseMany(array_filter($keys, static fn (string $key): bool => preg_match('//u', $key) !== 1), $keys, 'keys are not UTF-8');
            self::refuseMany(self::matching('/^\?[? ]*$|\xEF\xBF\xBD/', $keys), $keys, 'letters were lost in a conversion');
            self::refuseMany(self::matching('/^(?:NULL|\\\\N)$/D', $keys), $keys, "a database's NULL became a key");
        }
    }

    /**
     * @param list<string> $keys
     * @return list<string>
     */
    private static function notEmpty(array $keys): array
    {
        return array_values(array_filter($keys, static fn (string $key): bool => $key !== ''));
    }

    /**
     * @param non-empty-string $pattern
     * @param list<string> $keys
     * @return array<string>
     */
    private static function matching(string $pattern, array $keys): array
    {
        return array_filter($keys, static fn (string $key): bool => preg_match($pattern, $key) === 1);
    }

    /**
     * @param array<string> $shown
     * @throws WrongKeys unless there are none
     */
    private static function refuse(array $shown, string $what): void
    {
        if ($shown !== []) {
            throw new WrongKeys("$what: " . self::examples(array_slice($shown, 0, self::EXAMPLES)) . ' (allowSuspectKeys: true, or AllowsSuspectKeys, if that is intended)');
        }
    }

    /** @param array<string> $keys */
    public static function examples(array $keys): string
    {
        $flags = JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;
        return implode(', ', array_map(
            static fn (string $key): string => (string) json_encode(substr($key, 0, self::EXAMPLE_BYTES), $flags) . (strlen($key) > self::EXAMPLE_BYTES ? '...' : ''),
            $keys,
        ));
    }

    /**
     * One such key among many may be right, or be a visitor's mischief, which must not stop the nightly build.
     *
     * @param array<string> $some
     * @param list<string> $keys
     * @throws WrongKeys
     */
    private static function refuseMany(array $some, array $keys, string $what): void
    {
        self::refuse(count($some) * 100 >= count($keys) ? $some : [], $what);
    }

    /**
     * A list of such keys may have a few others: a header, a row that was written in another way.
     *
     * @param list<string> $keys
     */
    private static function areMost(int $some, array $keys): bool
    {
        return $some * 10 >= count($keys) * 9 || (count($keys) > 2 && $some + 1 === count($keys));
    }

    /**
     * @param list<string> $first
     * @param list<string> $last
     * @return array<string>
     */
    private static function messages(array $first, array $last): array
    {
        return self::matching(self::MESSAGE, array_slice($first, 0, self::OUTER)) ?: self::matching(self::MESSAGE, array_slice($last, -self::OUTER));
    }

    /**
     * Also an array or object that is written over several lines, or whose only line is cut off.
     *
     * @param non-empty-list<string> $first
     * @param list<string> $last
     */
    private static function isJson(array $first, array $last): bool
    {
        $isClosed = count($first) === 1 || ($last !== [] && preg_match('/[\]}][ \t]*$/', end($last)) === 1);
        return ($isClosed && preg_match('/^[ \t]*[\[{][ \t]*(?:$|["{\[])/', $first[0]) === 1)
            || self::areMost(count(self::matching('/^[ \t]*(?:\{.*\}|\[.*\])[ \t]*$/s', $first)), $first);
    }

    /**
     * @param non-empty-list<string> $first
     * @param list<string> $last
     */
    private static function isTable(array $first, array $last): bool
    {
        $second = $first[1] ?? '';
        $isUnderlined = strlen($second) > 1 && strlen($second) === strlen($first[0]) && preg_match('/^[+\-| ]*-[+\-| ]*$/D', $second) === 1;
        return $isUnderlined || preg_match(self::TABLE, $first[0]) === 1 || ($last !== [] && preg_match('/^\([0-9]+ rows?\)$/D', end($last)) === 1);
    }

    /**
     * A column of CSV in which only some fields are quoted: all those that hold a separator, a quote, or with fputcsv() a space.
     *
     * @param list<string> $keys
     * @return array<string>
     */
    private static function quotedFields(array $keys): array
    {
        $isField = static fn (string $key): bool => preg_match('/^"(?:[^"]|"")*"$/sD', $key) === 1 && strlen($key) > 1;
        $quoted = array_filter($keys, $isField);
        foreach ($quoted === [] ? [] : str_split(",;\t \"") as $reason) {
            $count = count(array_filter($quoted, static fn (string $key): bool => str_contains(substr($key, 1, -1), $reason)));
            if ($count === 0) {
                continue;
            }
            $contradicts = array_filter($keys, static fn (string $key): bool => strpbrk($key, "$reason\"") !== false && !$isField($key));
            if ($contradicts === []) {
                return $count >= 3 || $count * 100 >= count($keys) ? $quoted : [];
            }
        }
        return [];
    }

    /**
     * @param list<string> $keys
     * @throws WrongKeys
     */
    private static function checkColumns(array $keys): void
    {
        foreach (count($keys) < 3 ? [] : self::SEPARATORS as $separator => $name) { // two titles with a comma are no table
            $counts = array_count_values(array_map(
                static fn (string $key): int => substr_count((string) preg_replace('/"[^"]*(?:"|$)/', '', $key), $separator),
                $keys,
            ));
            arsort($counts);
            $count = (int) array_key_first($counts);
            if ($count !== 0 && self::areMost($counts[$count], $keys)) {
                self::refuse($keys, 'keys are lines of ' . ($count + 1) . " columns (separator: $name)");
            }
        }
    }
}
