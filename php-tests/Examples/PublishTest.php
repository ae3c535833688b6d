<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\TestCase;

/** What a batch does with the examples' key lists. */
final class PublishTest extends TestCase
{
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
            $listed = explode("\0", $examples->output('keys.php', $set));
            self::assertSame('', array_pop($listed), 'each key is ended');
            sort($listed, SORT_STRING);
            self::assertSame($keys, $listed);
        }
    }

    public function testAListThatCannotBeReadReplacesNothing(): void
    {
        $examples = new Examples();
        $examples->setUp('products');
        unlink($examples->database);
        foreach (['products' => 'no such table: products', 'unknown' => 'no set "unknown"'] as $set => $reason) {
            self::assertThrows(\RuntimeException::class, $reason, static fn () => $examples->publish($set));
        }
        $query = 'keysieve query products 42; keysieve query products 44 || true';
        self::assertSame("maybe\nabsent\n", $examples->shell($query)->output);
    }
}
