<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Set;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** A blocklist whose "maybe" blocks nobody. */
final class DisposableDomainsTest extends TestCase
{
    private Examples $examples;

    protected function setUp(): void
    {
        $this->examples = new Examples();
        $this->examples->setUp('disposable');
    }

    public function testListedDomainsAndThoseBelowThemAreRefused(): void
    {
        self::assertSame(<<<'TEXT'
            me@example.org: welcome
            me@trash.example: please give a lasting address
            me@A.b.TRASH.example.: please give a lasting address
            me@müll.example: please give a lasting address
            me@nottrash.example: welcome
            "a@trash.example"@example.org: welcome
            me@example: welcome
            me: welcome
            me@: welcome
            3 queries

            TEXT, $this->check(
            'me@example.org',
            'me@trash.example',
            'me@A.b.TRASH.example.',
            'me@müll.example',
            'me@nottrash.example',
            '"a@trash.example"@example.org',
            'me@example',
            'me',
            'me@',
        ));
    }

    public function testAMaybeBlocksNobody(): void
    {
        $profile = $this->examples->output('keys.php', '--profile', 'disposable');
        $listed = array_map(static fn (int $number): string => "listed-$number.example", range(1, 20_000));
        SharedMemory::put('disposable', $listed, ['--fpr', '0.3', '--shard-size', '1KiB', '--key-profile', $profile]);
        $honest = array_map(static fn (int $number): string => "honest-$number.example", range(1, 200));
        $wrongly = (new Set('disposable'))->candidates($honest);
        self::assertGreaterThan(10, count($wrongly));
        $answers = $this->check(...array_map(static fn (string $domain): string => "me@$domain", $honest));
        self::assertSame(200, substr_count($answers, ': welcome'));
        self::assertStringEndsWith("\n" . count($wrongly) . " queries\n", $answers);
    }

    public function testNobodyIsBlockedWhileTheListCannotBeAsked(): void
    {
        unlink($this->examples->database);
        $check = $this->examples->run('disposable_email/check.php', 'me@trash.example');
        self::assertSame("me@trash.example: welcome\n1 queries\n", $check->output);
        self::assertStringContainsString('disposable domains cannot be asked: ', $check->errors);
    }

    private function check(string ...$addresses): string
    {
        return $this->examples->output('disposable_email/check.php', ...$addresses);
    }
}
