<?php

declare(strict_types=1);

namespace KeySieve\Laravel;

use Illuminate\Database\Eloquent\Builder;
use Illuminate\Database\Eloquent\Model;
use KeySieve\Adds\Adds;
use KeySieve\Adds\InSets;
use KeySieve\Adds\KeysBySet;
use KeySieve\Adds\OpenTransaction;

/**
 * For models that are InSets. Each insert and each update becomes a transaction: an update locks and reads its row, the row is written and
 * read back, and its new keys are added. So it knows what the database and other processes have put into the row. If the store does not
 * take the keys, save() throws and writes nothing. Listeners of created and updated run before the commit.
 *
 * Without a primary key, save() throws a \LogicException. A model that is identified by more columns names them in setKeysForSaveQuery().
 *
 * What writes without a model adds nothing: insert(), upsert(), and update(), increment() or restore() of a query, updateExistingPivot(),
 * and attach() without using(). There, call Adds::add() before you commit.
 *
 * @phpstan-require-extends Model
 * @phpstan-require-implements InSets
 */
trait AddsKeys
{
    /**
     * @param Builder<static> $query
     * @return bool
     */
    protected function performInsert(Builder $query)
    {
        return $this->writeAndAdd(fn (): bool => parent::performInsert($query));
    }

    /**
     * @param Builder<static> $query
     * @return bool
     */
    protected function performUpdate(Builder $query)
    {
        return $this->writeAndAdd(fn (): bool => parent::performUpdate($query));
    }

    /**
     * @param string $column
     * @param float|int $amount
     * @param array<string, mixed> $extra
     * @param string $method
     * @return int|false
     */
    protected function incrementOrDecrement($column, $amount, $extra, $method)
    {
        $write = fn (): mixed => parent::incrementOrDecrement($column, $amount, $extra, $method);
        return $this->exists ? $this->writeAndAdd($write) : $write(); // a model without a row increments all rows
    }

    /**
     * @template T
     * @param \Closure(): T $write returns false if it writes nothing
     * @return T
     */
    private function writeAndAdd(\Closure $write): mixed
    {
        $attributes = $this->getAttributes();
        $others = [$this->original, $this->exists, $this->wasRecentlyCreated];
        $isCommitted = false;
        $connection = $this->getConnection();
        if ($connection->transactionLevel() > 0) {
            OpenTransaction::check($connection->getPdo());
        }
        try {
            return $connection->transaction(function () use ($connection, $write, &$isCommitted): mixed {
                $connection->afterCommit(static function () use (&$isCommitted): void {
                    $isCommitted = true;
                });
                return $this->writeAndAddInTransaction($write);
            });
        } catch (\Throwable $error) {
            if (!$isCommitted) { // otherwise a later callback has thrown, and the row stays
                $this->setRawAttributes($attributes); // so that the call can be repeated
                [$this->original, $this->exists, $this->wasRecentlyCreated] = $others;
            }
            throw $error;
        }
    }

    /**
     * @template T
     * @param \Closure(): T $write
     * @return T
     */
    private function writeAndAddInTransaction(\Closure $write): mixed
    {
        $isNew = !$this->exists;
        // A build may have left out rows that are trashed.
        $before = array_filter($isNew ? [] : $this->lockedRows(), static fn (self $row): bool => !method_exists($row, 'trashed') || !$row->trashed());
        $result = $write();
        if ($result !== false) {
            $after = (clone $this)->syncOriginal()->lockedRows(); // its primary key may be new
            if ($isNew && $after === []) {
                throw new \LogicException(static::class . ': its primary key does not find the new row');
            }
            self::keysOf($after)->butNot(self::keysOf($before))->addTo(app(Adds::class));
        }
        return $result;
    }

    /** @return array<static> as they are in the database, which may be more than one for a pivot */
    private function lockedRows(): array
    {
        $query = $this->setKeysForSaveQuery($this->newModelQuery())->toBase();
        if ($query->wheres === []) {
            throw new \LogicException(static::class . ' has no primary key, so that its row cannot be read');
        }
        // After the write they are locked already, but without this lock MySQL reads what a write did not change in an older version.
        return $query->lockForUpdate()->get()->map(fn (object $row): static => $this->newInstance([], true)->setRawAttributes((array) $row))->all();
    }

    /** @param array<static> $rows */
    private static function keysOf(array $rows): KeysBySet
    {
        return array_reduce($rows, static fn (KeysBySet $keys, self $row): KeysBySet => $keys->and(KeysBySet::of($row)), KeysBySet::none());
    }
}
