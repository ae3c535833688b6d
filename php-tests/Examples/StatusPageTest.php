<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

/** What a worker of php-fpm tells of its sets, where a process of another user may see others. */
final class StatusPageTest extends TestCase
{
    public function testItTellsTheStateOfEachSetAndWhyItDoesNotAnswer(): void
    {
        SharedMemory::put('seen', ['apple']);
        SharedMemory::put('writable', ['apple']);
        chmod(SharedMemory::folder('writable'), 02770);
        SharedMemory::put('off', ['apple']);
        SharedMemory::bypass('off');
        $pool = (new Examples())->pool();
        $page = $pool->request('page=status_page/status.php&sets=seen,off,writable,never,%3Cb%3E')->body();
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
}
