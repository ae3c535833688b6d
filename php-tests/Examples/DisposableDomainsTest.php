<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Set;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** A blocklist whose "maybe" blocks nobody. */
final class DisposableDomainsTest extends TestCase
{
    private Examples $examples;

    protected function setUp(): void
    {
        $this->examples = new Examples();
        $this->examples->setUp('disposable');
    }

    public function testListedDomainsAndTheirSubdomainsAreRefused(): void
    {
        $refused = ['me@trash.example', 'me@A.b.TRASH.example.', 'me@müll.example', 'me@MÜLL。example。'];
        $welcome = ['me@example.org', 'me@nottrash.example', '"a@trash.example"@example.org', 'me@example', 'me', 'me@'];
        $lines = [
            ...array_map(static fn (string $address): string => "$address: please give a lasting address\n", $refused),
            ...array_map(static fn (string $address): string => "$address: welcome\n", $welcome),
        ];
        self::assertSame(implode('', $lines) . "4 queries\n", $this->check(...$refused, ...$welcome));
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
