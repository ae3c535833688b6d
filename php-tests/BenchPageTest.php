<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** tools/workshop/bench/report.php fills in the page of the benches from what the parts have printed. */
final class BenchPageTest extends TestCase
{
    private const BARS = ['file' => 'bars', 'title' => 'methods', 'note' => 'of 20', 'bars' => ['title' => 'ns', 'rows' => [['ours', 5]]]];
    private const LINES = [
        'file' => 'lines', 'title' => 'growth', 'x' => ['title' => 'keys', 'scale' => 'log'], 'y' => ['title' => 'ns'],
        'series' => [['name' => 'ours', 'points' => [[10, 1.5], [100, 2]]]],
    ];

    private Folder $folder;

    protected function setUp(): void
    {
        $this->folder = new Folder('bench-page');
        mkdir("$this->folder/parts");
        file_put_contents("$this->folder/parts/machine.json", '{"settings": ["Processor: Z80, 1 processors; no caches", "Memory: 48 KiB"]}');
    }

    public function testHoldsTablesWithTheFirstColumnToTheLeft(): void
    {
        $page = $this->filled('tables', ['tables' => [['title' => 'cost', 'columns' => ['method', 'ns'], 'rows' => [['ours', '5'], ['theirs', '50']]]]]);
        self::assertSame("**cost**\n\n| method | ns |\n|---|---:|\n| ours | 5 |\n| theirs | 50 |\n", $page);
    }

    public function testShowsThePlotsInTheFolderOfItsName(): void
    {
        $page = $this->filled('plots settings', ['settings' => ['apcu 5'], 'plots' => [self::BARS, self::LINES]]);
        $today = gmdate('Y-m-d', filemtime("$this->folder/parts/php.json"));
        self::assertSame("![methods](page/bars.svg)\n\n![growth](page/lines.svg)\n\n- apcu 5\n- measured on $today, Z80\n", $page);
        self::assertStringContainsString('of 20', file_get_contents("$this->folder/page/bars.svg"));
        self::assertStringContainsString('growth', file_get_contents("$this->folder/page/lines.svg"));
    }

    public function testNamesAPartThatWasNotMeasuredAndKeepsItsProse(): void
    {
        file_put_contents("$this->folder/page.md", "before\n<!-- begin fpm tables -->\nold\n<!-- end fpm -->\nafter\n");
        self::assertSame('', $this->report('fpm')->errors);
        self::assertSame("before\n<!-- begin fpm tables -->\n*fpm was not measured.*\n<!-- end fpm -->\nafter\n", file_get_contents("$this->folder/page.md"));
    }

    public function testLeavesPartsThatAreNotGivenAsTheyAre(): void
    {
        $page = "<!-- begin fpm tables -->\nold\n<!-- end fpm -->\n";
        file_put_contents("$this->folder/page.md", $page);
        self::assertSame('', $this->report('php')->errors);
        self::assertSame($page, file_get_contents("$this->folder/page.md"));
    }

    public function testIsFilledInAgainInTheSamePlaces(): void
    {
        $this->filled('settings', ['settings' => ['apcu 5']]);
        $once = file_get_contents("$this->folder/page.md");
        $this->report();
        self::assertSame($once, file_get_contents("$this->folder/page.md"));
    }

    /** @return iterable<string, array{array, string}> */
    public static function wrongParts(): iterable
    {
        yield 'row of other length' => [['tables' => [['title' => 'cost', 'columns' => ['a'], 'rows' => [['b', 'c']]]]], 'row of other length in the table of a'];
        yield 'no bars' => [['plots' => [['bars' => ['title' => 'ns', 'rows' => []]] + self::BARS]], 'plot without bars: methods'];
        yield 'no lines' => [['plots' => [['series' => []] + self::LINES]], 'plot without lines: growth'];
        yield 'no points' => [['plots' => [['series' => [['name' => 's', 'points' => []]]] + self::LINES]], 'line without points: s'];
        yield 'scale' => [['plots' => [['x' => ['title' => '', 'scale' => 'cubic']] + self::LINES]], 'no such scale: cubic'];
    }

    #[DataProvider('wrongParts')]
    public function testAWrongPartIsRefusedWithTheReasonAndLeavesThePageAlone(array $part, string $reason): void
    {
        file_put_contents("$this->folder/parts/php.json", json_encode($part));
        file_put_contents("$this->folder/page.md", "<!-- begin php tables plots -->\nold\n<!-- end php -->\n");
        $report = $this->report();
        self::assertNotSame(0, $report->status);
        self::assertStringContainsString($reason, $report->errors . $report->output);
        self::assertStringContainsString("\nold\n", file_get_contents("$this->folder/page.md"));
    }

    /** What the page has between its marks. */
    private function filled(string $whats, array $part): string
    {
        file_put_contents("$this->folder/parts/php.json", json_encode($part));
        file_put_contents("$this->folder/page.md", "<!-- begin php $whats -->\n<!-- end php -->\n");
        $report = $this->report();
        self::assertSame('', $report->errors . $report->output);
        preg_match('/-->\n(.*)<!-- end php -->\n$/s', file_get_contents("$this->folder/page.md"), $found);
        return $found[1];
    }

    private function report(string $part = 'php'): Program
    {
        $script = __DIR__ . '/../tools/workshop/bench/report.php';
        return Program::run([PHP_BINARY, '-n', $script, "$this->folder/page.md", "$this->folder/parts", $part]);
    }
}
