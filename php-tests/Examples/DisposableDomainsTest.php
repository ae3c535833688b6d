<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

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

    public function testDomainsInAsciiAreTheSameWithAndWithoutIntl(): void
    {
        $domains = [
            'Example.ORG', 'example.org.', 'ab--cd.example', '-a.b-.example', 'xn--a-.example', 'a_b.example', str_repeat('a', 64) . '.example',
            'a..example', '.example', '.', '', 'ex ample', "example\n", '[192.0.2.1]', 'ａ.example',
        ];
        $code = 'echo json_encode(array_map(KeySieve\Keys\DomainKey::of(...), ' . var_export($domains, true) . '));';
        $bootstrap = "require_once '" . dirname(__DIR__, 2) . "/php/bootstrap.php';";
        $keys = [
            'example.org', 'example.org', 'ab--cd.example', '-a.b-.example', 'xn--a-.example', 'a_b.example', null,
            null, null, null, null, null, 'example', null,
        ];
        self::assertSame([...$keys, 'a.example'], json_decode($this->examples->code($bootstrap . $code)));
        $withoutIntl = "$bootstrap try { KeySieve\\Keys\\DomainKey::of('ａ.example'); } catch (LogicException \$error) { echo \$error->getMessage(); }";
        self::assertStringContainsString('intl', PhpScript::run($withoutIntl)->output);
        $code = str_replace("'ａ.example'", "'b.example'", $code);
        self::assertSame([...$keys, 'b.example'], json_decode(PhpScript::run($bootstrap . $code)->output), 'without intl');
    }

    private function check(string ...$addresses): string
    {
        return $this->examples->output('disposable_email/check.php', ...$addresses);
    }
}
