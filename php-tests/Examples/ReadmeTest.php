<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\KeyFunctionTest;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** What examples/README.md says of all examples: its commands, run as they are written, what a batch does, and what pages and checks say. */
final class ReadmeTest extends TestCase
{
    /** @return iterable<string, array{string, string}> the commands of each section, and what they print */
    public static function sections(): iterable
    {
        foreach (preg_split('/^### /m', self::readme()) as $section) {
            $name = strtok($section, "\n");
            if (preg_match('/^```sh\n(.*?)^```\n\n```\n(.*?)^```\n/ms', $section, $found) === 1) {
                yield $name => [$found[1], $found[2]];
            }
        }
    }

    #[DataProvider('sections')]
    public function testCommandsPrintWhatTheReadmeSays(string $commands, string $output): void
    {
        preg_match('/^## Try them\n.*?^```sh\n(.*?)^```\n/ms', self::readme(), $setUp);
        $free = stream_socket_get_name(stream_socket_server('tcp://127.0.0.1:0'), false); // where nothing listens
        $commands = str_replace('127.0.0.1:8099', $free, $commands);
        $cleanUp = 'rm -rf "$trial"; kill $(jobs -p) 2>/dev/null || true';
        $examples = new Examples();
        $this->delayRedis((string) $examples->folder);
        $shell = $examples->shell("{$setUp[1]}trap '$cleanUp' EXIT\n$commands");
        self::assertSame($output, $shell->output, $shell->errors);
    }

    /** It may return before it listens: here it starts when it was asked for in vain. */
    private function delayRedis(string $folder): void
    {
        foreach ([
            'redis-server' => "(while [ -d $folder ] && [ ! -e $folder/asked ]; do sleep 0.02; done; exec %s \"\$@\") >/dev/null 2>&1 &",
            'redis-cli' => "%s \"\$@\" || { status=\$?; : >$folder/asked; exit \$status; }",
        ] as $program => $commands) {
            $real = trim(Program::output(['sh', '-c', "command -v $program"]));
            file_put_contents("$folder/$program", "#!/bin/sh\n" . sprintf($commands, $real) . "\n");
            chmod("$folder/$program", 0755);
        }
    }

    public function testEveryExampleHasItsSection(): void
    {
        self::assertSame(
            ['tag_links', 'usernames', 'add_then_commit', 'disposable_email', 'status_page', 'long_running'],
            array_keys(iterator_to_array(self::sections())),
        );
        foreach (glob(Examples::path('.') . '/*', GLOB_ONLYDIR) as $folder) {
            self::assertStringContainsString(basename($folder), self::readme());
        }
    }

    public function testTagsAreLinkedHoweverTheyAreWritten(): void
    {
        $examples = new Examples();
        $examples->setUp('encyclopedia', 'shop');
        self::assertSame(<<<HTML
            <ul>
            <li>CAFE\u{301} <a href="/articles/Caf%C3%A9">article</a></li>
            <li>\u{3000}tokyo tower  <a href="/articles/Tokyo%20Tower">article</a></li>
            <li>&lt;b&gt;</li>
            <li>\u{fffd}</li>
            <li>02024</li>
            </ul>
            <!-- 1 queries -->

            HTML, $examples->output('tag_links/page.php', "CAFE\u{301}", "\u{3000}tokyo tower ", '<b>', "\xff", '02024'));
    }

    public function testTheStatusPageSaysWhoAsksAndWhyASetDoesNotAnswer(): void
    {
        SharedMemory::put('writable', ['apple']);
        chmod(SharedMemory::folder('writable'), 02770);
        $page = (new Examples())->code('$_GET["sets"] = "writable,<b>"; require FOLDER . "/status_page/status.php";');
        self::assertMatchesRegularExpression('~^<p>Worker \d+ has uid \d+, groups \d~m', $page);
        self::assertStringContainsString("<p>writable: Missing</p>\n", $page);
        self::assertMatchesRegularExpression('~Set writable.*missing \(.*may write to it\)~', $page);
        self::assertStringNotContainsString('<b>', $page);
    }

    public function testKeysAreListedAsLookupsAskForThem(): void
    {
        $examples = new Examples();
        $examples->output('setup.php');
        $expected = [
            'encyclopedia' => ['2024', 'café', 'php', 'tokyo tower', '初音ミク', '桜', '猫'],
            'shop' => ['2024', '猫'],
            'products' => ['2024', '42', '43'],
            'users' => ['alice', 'bob', 'jürgen'],
            'disposable' => ['mailinator.example', 'trash.example', 'xn--mll-hoa.example'],
        ];
        foreach ($expected as $set => $keys) {
            self::assertSame("$set: " . count($keys) . " keys, in {$examples->folder}\n", $examples->output('build.php', (string) $examples->folder, $set));
            file_put_contents("{$examples->folder}/keys", implode("\n", $keys));
            Program::keysieve('verify', "{$examples->folder}/$set.ks", '--keys', "{$examples->folder}/keys");
        }
    }

    public function testAListThatCannotBeReadReplacesNothing(): void
    {
        $examples = new Examples();
        $examples->setUp('products');
        unlink($examples->database);
        foreach (['products' => 'no such table: products', 'unknown' => 'unknown: no source has this name'] as $set => $reason) {
            self::assertThrows(\RuntimeException::class, $reason, static fn () => $examples->publish($set));
        }
        $query = 'keysieve query products 42; keysieve query products 44 || true';
        self::assertSame("maybe\nabsent\n", $examples->shell($query)->output);
    }

    public function testNobodyIsBlockedWhileTheListCannotBeAsked(): void
    {
        $examples = new Examples();
        $examples->setUp('disposable');
        unlink($examples->database);
        $check = $examples->run('disposable_email/check.php', 'me@trash.example');
        self::assertSame("me@trash.example: welcome\n1 queries\n", $check->output);
        self::assertStringContainsString('disposable domains cannot be asked: ', $check->errors);
    }

    public function testDomainsInUnicodeAndWithHyphensWhereIdnaRefusesThemAreRefused(): void
    {
        $examples = new Examples();
        $examples->setUp('disposable');
        $examples->query("INSERT INTO disposable_domains VALUES ('r3---sn-x.example'), ('xn--no-punycode-.example')");
        $examples->publish('disposable');
        $refused = [
            'me@müll.example', 'me@MÜLL。example。', 'me@ab--cd.trash.example', 'me@AB--cd.müll.example', 'me@bü--.trash.example', 'me@-ü.ａｂ－－ｃｄ.trash.example',
            'me@R3---sn-x.example', 'me@XN--no-punycode-.example',
        ];
        $lines = array_map(static fn (string $address): string => "$address: please give a lasting address\n", $refused);
        self::assertSame(implode('', $lines) . "8 queries\n", $examples->output('disposable_email/check.php', ...$refused));
        Program::succeed(['rm', '-rf', SharedMemory::folder('disposable')]); // which has more keys than others will build
    }

    /** What KeyFunctionTest, without intl, has of ASCII; and without intl all else throws. */
    public function testDomainsInAsciiAreTheSameWithIntl(): void
    {
        $keys = iterator_to_array(KeyFunctionTest::functions())['domains'][1] + ['ａ.example' => 'a.example'];
        $code = "require_once '" . dirname(__DIR__, 2) . "/php/bootstrap.php'; echo json_encode(array_map(KeySieve\\Keys\\DomainKey::of(...), "
            . var_export(array_keys($keys), true) . '));';
        self::assertSame(array_values($keys), json_decode((new Examples())->code($code)));
        self::assertMatchesRegularExpression('/LogicException: .*intl/', PhpScript::run($code)->output);
    }

    private static function readme(): string
    {
        return file_get_contents(Examples::path('README.md'));
    }
}
