<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\MariaDbServer;
use PHPUnit\Framework\Attributes\DataProvider;
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

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testATransactionThatTheDatabaseHasEndedWritesNoRow(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $db->getConnection()->beginTransaction();
            $db->getConnection()->executeStatement('CREATE TABLE other (id INT)'); // commits
            $save(new Tag('a'));
            echo 'rows: ', $rows();
            PHP);
        self::assertSame("LogicException: The database has ended the transaction, as MySQL does after CREATE TABLE or a deadlock\nrows: ", $output);
        self::assertSame([], $this->added('tags'));
    }

    /**
     * As by a deadlock. PDO does not know before the next answer.
     *
     * @param array<string, string> $packages
     */
    #[DataProvider('applications')]
    public function testATransactionThatAnErrorHasEndedWritesNoRow(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $db->getConnection()->beginTransaction();
            try {
                $db->getConnection()->executeStatement("BEGIN NOT ATOMIC ROLLBACK; SIGNAL SQLSTATE '40001'; END");
            } catch (Doctrine\DBAL\Exception $error) {
                echo $error->getCode(), "\n";
            }
            $save(new Tag('a'));
            echo 'rows: ', $rows();
            PHP);
        self::assertMatchesRegularExpression('/^\d+\nLogicException: The database has ended .*\nrows: $/', $output);
        self::assertSame([], $this->added('tags'));
    }
}
