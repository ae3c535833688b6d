<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\KeyFunctionTest;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
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

    protected function tearDown(): void
    {
        Program::succeed(['rm', '-rf', SharedMemory::folder('disposable')]); // which may have more keys than others will build
    }

    public function testNobodyIsBlockedWhileTheListCannotBeAsked(): void
    {
        unlink($this->examples->database);
        $check = $this->examples->run('disposable_email/check.php', 'me@trash.example');
        self::assertSame("me@trash.example: welcome\n1 queries\n", $check->output);
        self::assertStringContainsString('disposable domains cannot be asked: ', $check->errors);
    }

    public function testDomainsInUnicodeAndWithHyphensWhereIdnaRefusesThemAreRefused(): void
    {
        $this->examples->query("INSERT INTO disposable_domains VALUES ('r3---sn-x.example'), ('xn--no-punycode-.example')");
        $this->examples->publish('disposable');
        $refused = [
            'me@müll.example', 'me@MÜLL。example。', 'me@ab--cd.trash.example', 'me@AB--cd.müll.example', 'me@bü--.trash.example', 'me@-ü.ａｂ－－ｃｄ.trash.example',
            'me@R3---sn-x.example', 'me@XN--no-punycode-.example',
        ];
        $lines = array_map(static fn (string $address): string => "$address: please give a lasting address\n", $refused);
        self::assertSame(implode('', $lines) . "8 queries\n", $this->check(...$refused));
    }

    /** What KeyFunctionTest, without intl, has of ASCII; and without intl all else throws. */
    public function testDomainsInAsciiAreTheSameWithIntl(): void
    {
        $keys = iterator_to_array(KeyFunctionTest::functions())['domains'][1] + ['ａ.example' => 'a.example'];
        $code = "require_once '" . dirname(__DIR__, 2) . "/php/bootstrap.php'; echo json_encode(array_map(KeySieve\\Keys\\DomainKey::of(...), "
            . var_export(array_keys($keys), true) . '));';
        self::assertSame(array_values($keys), json_decode($this->examples->code($code)));
        self::assertMatchesRegularExpression('/LogicException: .*intl/', PhpScript::run($code)->output);
    }

    private function check(string ...$addresses): string
    {
        return $this->examples->output('disposable_email/check.php', ...$addresses);
    }
}
