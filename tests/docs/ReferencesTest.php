<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** What users read as references holds all that the programs, the extension and the loader know. */
final class ReferencesTest extends TestCase
{
    public function testEveryFilterKindHasASectionWithItsId(): void
    {
        $page = file_get_contents('docs/filters.md');
        foreach (SharedMemory::kinds() as $kind) {
            $golden = file_get_contents("tests/golden/$kind.ks", length: 11);
            self::assertMatchesRegularExpression("/^## `$kind`\n\nId " . ord($golden[10]) . '; `hash_count` is /m', $page);
        }
    }

    public function testACommentSaysWhatEachSettingOfPhpIniMeans(): void
    {
        preg_match_all('~^ *// .*\n *PHP_INI_ENTRY(?:_EX)?\("([^"]+)", "[^"]*", PHP_INI_SYSTEM~m', self::sources('ext/settings.cpp'), $explained);
        $known = array_keys((new \ReflectionExtension('keysieve'))->getINIEntries());
        self::assertEqualsCanonicalizing($known, $explained[1]);
    }

    public function testTheLoadersExampleHasEveryKeyThatItsParserKnows(): void
    {
        $parser = self::sources('tools/loader/config/*.cpp');
        preg_match_all('/(?:take_setting\(\w+, |(?:\.|->)(?:parsed|parsed_list|required)\()"([a-z_]+)"/', $parser, $known);
        self::assertContains('max_shrink', $known[1]);
        preg_match_all('/^#?([a-z_]+) = /m', self::sources('tools/loader/keysieve.toml.example'), $shown);
        self::assertEqualsCanonicalizing(array_unique($known[1]), array_unique($shown[1]));
    }

    public function testTheSampleHasEveryMetricThatTheLoaderExports(): void
    {
        preg_match_all('/"(keysieve_\w+)"/', self::sources('tools/{status,loader/http}/*.cpp'), $exported);
        preg_match_all('/^# HELP (\S+) \S/m', self::sources('tests/tools/loader/http/golden/metrics.txt'), $shown);
        self::assertGreaterThan(40, count($exported[1]));
        self::assertEqualsCanonicalizing($exported[1], $shown[1]);
    }

    public function testTheMemoryOfSeenSetsIsWhatTheLoaderSays(): void
    {
        preg_match('/^\| `fpr` \|((?: \d+ windows? \|)+)\n\|[-|]+\n((?:\| [\d.e-]+ \|.*\n)+)/m', file_get_contents('docs/seen_sets.md'), $table);
        preg_match_all('/(\d+) windows? \|/', $table[1] ?? '', $windows);
        $rows = explode("\n", trim($table[2] ?? ''));
        self::assertCount(6, $rows);
        foreach ($rows as $row) {
            $told = explode(' | ', trim($row, '| '));
            $measured = array_map(static fn (string $count): string => self::sizeOfSeenSet($told[0], $count), $windows[1]);
            self::assertSame([$told[0], ...$measured], $told);
        }
    }

    /** For a million keys per window: "35 bits, 8.5 MiB". */
    private static function sizeOfSeenSet(string $fpr, string $windows): string
    {
        $config = tempnam(sys_get_temp_dir(), 'seen') . '.toml';
        file_put_contents($config, "directory = \"/run/keysieve\"\n[[seen]]\nname = \"s\"\nkeys = \"1M\"\nwindow = \"5m\"\nwindows = $windows\nfpr = $fpr\n");
        $said = Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieved', '--check-config', '--config', $config]);
        self::assertSame(1, preg_match('/^seen s: .*?: ([\d.,]+ \w+), (\d+) bits per key/m', $said, $size), $said);
        return "$size[2] bits, $size[1]";
    }

    private static function sources(string $pattern): string
    {
        return implode('', array_map(file_get_contents(...), glob($pattern, GLOB_BRACE)));
    }
}
