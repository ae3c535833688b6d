<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Tests\Support\Program;
use PHPUnit\Framework\TestCase;

/** Figures that a page repeats are those that were measured. */
final class FiguresTest extends TestCase
{
    public function testTheReadmesFiguresAreThoseOfTheBenchmarks(): void
    {
        preg_match('/^\| method \| µs .*\n.*\n((?:\|.*\n)+)/m', file_get_contents('README.md'), $table);
        $rows = explode("\n", trim($table[1] ?? ''));
        self::assertGreaterThan(3, count($rows));
        foreach ($rows as $row) {
            $told = self::cells($row);
            $measured = self::cells(self::rowOfBenchmarks($told[0]));
            // method, 100k keys: µs, times, 1M keys: µs, times, FPR, 1M keys: memory per process, shared
            self::assertSame([$measured[0], $measured[3], $measured[6], $measured[7]], $told);
        }
    }

    public function testTheFiguresOfThePackageAreThoseOfTheBenchmarks(): void
    {
        self::assertSame(1, preg_match('/^- \*\*Speed\.\*\*(?:.*\n)+?(?=- )/m', file_get_contents('docs/without_the_extension.md'), $speed));
        preg_match_all('/([\d.,]+) (?:µs|MB)/', $speed[0], $told);
        // kind, size, first call, 20 keys, cold, its floor, warm, in a batch, memory
        $measured = self::cells(self::rowOfBenchmarks('split_block_bloom', 'The package in PHP, with sets of 100M keys'));
        self::assertSame([$measured[2], $measured[3], $measured[4], $measured[6], $measured[7], $measured[8]], $told[1]);
    }

    public function testThePlotOfTheKindsIsWhatPlanDraws(): void
    {
        $plot = tempnam(sys_get_temp_dir(), 'plot') . '.svg';
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        Program::output([$keysieve, 'plan', '--keys', '80000', '--fpr', '0.01', '--svg', $plot]);
        self::assertFileEquals($plot, 'docs/choose_a_filter/plan.svg', 'draw it again with the command of docs/choose_a_filter.md');
    }

    public function testTheBitsPerKeyOfTheKindsAreMeasured(): void
    {
        $chosen = file_get_contents('docs/choose_a_filter.md');
        $filters = file_get_contents('docs/filters.md');
        preg_match_all('/^\|[^|]+\| `(\w+)`[^|]* \| ([\d.]+) \|/m', $chosen, $told);
        preg_match_all('/^\| 1\.00 % \| `(\w+)` \| 4 KiB \|[^|]+\| ([\d.]+) \|/m', $filters, $measured);
        $measured = array_combine($measured[1], $measured[2]);
        self::assertCount(4, $told[1]);
        foreach (array_combine($told[1], $told[2]) as $kind => $bits) {
            self::assertEqualsWithDelta((float) $measured[$kind], (float) $bits, 0.06, $kind);
        }
    }

    public function testTheMemoryOfSeenSetsIsWhatTheLoaderSays(): void
    {
        preg_match('/^\| `fpr` \|((?: \d+ windows? \|)+)\n\|[-|]+\n((?:\| [\d.]+ \|.*\n)+)/m', file_get_contents('docs/seen_sets.md'), $table);
        preg_match_all('/(\d+) windows? \|/', $table[1] ?? '', $windows);
        $rows = explode("\n", trim($table[2] ?? ''));
        self::assertCount(4, $rows);
        foreach ($rows as $row) {
            $told = self::cells($row);
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

    private static function rowOfBenchmarks(string $method, string $title = 'A page asks for 20 keys, half of them absent'): string
    {
        $table = '/^\*\*' . preg_quote($title, '/') . '\*\*\n\n((?:\|.*\n)+)/m';
        self::assertSame(1, preg_match($table, file_get_contents('docs/benchmarks.md'), $found));
        $rows = preg_grep('/^\| ' . preg_quote($method, '/') . ' \|/', explode("\n", $found[1]));
        self::assertCount(1, $rows, $method);
        return current($rows);
    }

    /** @return string[] */
    private static function cells(string $row): array
    {
        return explode(' | ', trim($row, '| '));
    }
}
