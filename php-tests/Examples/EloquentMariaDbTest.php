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
    protected function setUp(): void
    {
        $this->mariaDb = new MariaDbServer();
        parent::setUp();
    }
}
