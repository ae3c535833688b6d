<?php

declare(strict_types=1);

namespace KeySieve\Adds;

/** A write in a transaction that the database has ended is committed at once: others would see the row before its keys are added. */
final class OpenTransaction
{
    /**
     * With MySQL and MariaDB, one round trip.
     *
     * @throws \LogicException if the database has ended the transaction, which the application has begun
     */
    public static function check(\PDO $database): void
    {
        if ($database->getAttribute(\PDO::ATTR_DRIVER_NAME) === 'mysql') {
            $database->exec('DO 0'); // an error, such as a deadlock's, does not say that it has ended the transaction; the next answer does
        }
        if (!$database->inTransaction()) {
            throw new \LogicException('The database has ended the transaction, as MySQL does after CREATE TABLE or a deadlock');
        }
    }
}
