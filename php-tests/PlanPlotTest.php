<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** gnuplot draws what `keysieve plan --plot` prints. */
final class PlanPlotTest extends TestCase
{
    /** @return iterable<string, array{string[]}> */
    public static function plans(): iterable
    {
        yield 'usual' => [['--keys', '80000']];
        yield 'low FPR' => [['--keys', '100000000', '--fpr', '0.000001', '--shard-size', '8KiB']];
        yield 'high FPR' => [['--keys', '1000', '--fpr', '0.5', '--shard-size', '1KiB']];
        yield 'growth' => [['--keys', '5000000', '--fpr', '0.25%', '--shard-size', '2KiB', '--growth', '2']];
        yield 'few keys' => [['--keys', '3', '--fpr', '2%']];
    }

    /** @param string[] $options */
    #[DataProvider('plans')]
    public function testIsDrawnWithoutAWarning(array $options): void
    {
        $script = tempnam(sys_get_temp_dir(), 'keysieve-plan');
        file_put_contents($script, Program::keysieve('plan', '--plot', ...$options));
        $gnuplot = Program::run(['gnuplot', '-e', 'set terminal svg size 960,540', $script]);
        self::assertSame([0, ''], [$gnuplot->status, $gnuplot->errors]);
        $picture = new \DOMDocument();
        self::assertTrue($picture->loadXML($gnuplot->output, LIBXML_NONET)); // a fault is a warning, which fails the test
        self::assertStringContainsString('recommended: ', $picture->textContent);
    }
}
