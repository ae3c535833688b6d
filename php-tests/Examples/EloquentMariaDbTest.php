<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\MariaDbServer;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** The same with MariaDB, and what needs its locks. */
#[Group('frameworks')]
final class EloquentMariaDbTest extends EloquentTest
{
    public static function setUpBeforeClass(): void
    {
        self::$mariaDb = new MariaDbServer();
    }

    public static function tearDownAfterClass(): void
    {
        self::$mariaDb = null;
    }
}
