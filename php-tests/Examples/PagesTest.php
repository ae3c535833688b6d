<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** The page of tags and the status page in a real php-fpm. The sets are so small that they have no false positives. */
final class PagesTest extends TestCase
{
    private static ?Examples $examples;
    private static ?FpmPool $pool;

    public static function setUpBeforeClass(): void
    {
        self::$examples = new Examples();
        self::$examples->setUp('encyclopedia', 'shop');
        self::$pool = self::$examples->pool();
    }

    public static function tearDownAfterClass(): void
    {
        self::$pool = null;
        self::$examples = null;
    }

    public function testTagsAreLinkedHoweverTheyAreWritten(): void
    {
        $tags = ['猫', "CAFE\u{301}", '2024', "\u{3000}tokyo tower ", '<b>', "\xff", '犬', '02024'];
        self::assertSame(<<<HTML
            <ul>
            <li>猫 <a href="/articles/%E7%8C%AB">article</a> <a href="/shop?tag=%E7%8C%AB">offers (2)</a></li>
            <li>CAFE\u{301} <a href="/articles/Caf%C3%A9">article</a></li>
            <li>2024 <a href="/articles/2024">article</a> <a href="/shop?tag=2024">offers (1)</a></li>
            <li>\u{3000}tokyo tower  <a href="/articles/Tokyo%20Tower">article</a></li>
            <li>&lt;b&gt;</li>
            <li>\u{fffd}</li>
            <li>犬</li>
            <li>02024</li>
            </ul>
            <!-- 2 queries -->

            HTML, $this->page(...$tags));
    }

    /** A process of another user may see other sets. */
    public function testTheStatusPageShowsTheStateOfEachSetAndWhyItDoesNotAnswer(): void
    {
        SharedMemory::put('seen', ['apple']);
        SharedMemory::put('writable', ['apple']);
        chmod(SharedMemory::folder('writable'), 02770);
        SharedMemory::put('off', ['apple']);
        SharedMemory::bypass('off');
        $page = self::$pool->request('page=status_page/status.php&sets=seen,off,writable,never,%3Cb%3E')->body();
        self::assertMatchesRegularExpression('~^<p>Worker \d+ has uid \d+, groups \d~m', $page);
        self::assertMatchesRegularExpression('~^<p>seen: Ready, publication \d+, generation 0, keys of 20\d\d-~m', $page);
        self::assertMatchesRegularExpression('~^<p>off: Bypassed, publication .* \(bypassed by an operator of this host\)</p>$~m', $page);
        self::assertStringContainsString("<p>writable: Missing</p>\n", $page);
        self::assertStringContainsString('<p>never: Missing</p>', $page);
        self::assertStringNotContainsString('<b>', $page);
        self::assertMatchesRegularExpression('~Set writable.*missing \(.*may write to it\)~', $page);
        self::assertMatchesRegularExpression('~Set never.*No such file or directory~', $page);
        self::assertMatchesRegularExpression('~keysieve version.*\d+\.\d+~', $page);
    }

    private function page(string ...$tags): string
    {
        return self::$pool->request('page=tag_links/page.php&tags=' . rawurlencode(implode(',', $tags)))->body();
    }
}
