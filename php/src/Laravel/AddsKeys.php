<?php

declare(strict_types=1);

namespace KeySieve\Laravel;

use Illuminate\Database\Eloquent\Builder;
use Illuminate\Database\Eloquent\Model;
use KeySieve\Adds\Adds;
use KeySieve\Adds\InSets;
use KeySieve\Adds\KeysBySet;

/**
 * For models that are InSets. Each insert and each update becomes a transaction: it writes the row, reads it back, and adds its new keys. So
 * it knows what the database and other processes have put into the row. If the store does not take the keys, save() throws and writes
 * nothing. Listeners of created and updated run before the commit.
 *
 * What writes without a model, such as insert(), upsert(), and update() or increment() of a query, adds nothing: there, call Adds::add()
 * before you commit.
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
        $attributes = $this->attributes;
        try {
            return $this->writeAndAdd(fn (): bool => parent::performInsert($query));
        } catch (\Throwable $error) {
            // There is no row: save() must insert it if it is called again.
            [$this->exists, $this->wasRecentlyCreated, $this->attributes] = [false, false, $attributes];
            throw $error;
        }
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
        $original = $this->exists ? $this->getRawOriginal() : null;
        return $this->getConnection()->transaction(function () use ($write, $original): mixed {
            $result = $write();
            if ($result !== false) {
                $this->newKeys($original)->addTo(app(Adds::class));
            }
            return $result;
        });
    }

    /** @param ?array<string, mixed> $original null: the row is new */
    private function newKeys(?array $original): KeysBySet
    {
        $model = (clone $this)->syncOriginal(); // its primary key may be new
        // It is locked already, but without asking for that MySQL may read an older version.
        /** @var array<string, mixed> $row */
        $row = (array) $model->setKeysForSelectQuery($model->newModelQuery())->toBase()->lockForUpdate()->first();
        if ($row === []) {
            return $original === null ? throw new \LogicException(static::class . ': its primary key does not find the new row') : KeysBySet::none();
        }
        $keys = KeysBySet::of($this->ofRow($row));
        if ($original === null || array_diff_key($row, $original) !== []) { // only some columns were read
            return $keys;
        }
        $before = $this->ofRow($original);
        $isTrashed = method_exists($before, 'trashed') && $before->trashed(); // then a build may have left it out
        return $isTrashed ? $keys : $keys->butNot(KeysBySet::of($before));
    }

    /** @param array<string, mixed> $row */
    private function ofRow(array $row): static
    {
        return $this->newInstance([], true)->setRawAttributes($row);
    }
}
