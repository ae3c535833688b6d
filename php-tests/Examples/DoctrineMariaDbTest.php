<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\MariaDbServer;
use PHPUnit\Framework\Attributes\Group;

/** The same with MariaDB. */
#[Group('frameworks')]
final class DoctrineMariaDbTest extends DoctrineTest
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
