<?php

declare(strict_types=1);

namespace KeySieve\Laravel;

use Illuminate\Database\Eloquent\Model;
use KeySieve\Adds\Adds;
use KeySieve\Adds\InSets;
use KeySieve\Adds\KeysBySet;

/**
 * Adds the keys of models that are InSets: in a transaction after the model's SQL and before the commit, elsewhere before its SQL,
 * which commits by itself. If the store does not take them, save() throws.
 *
 * A key that only the database knows, such as an auto-increment id, needs a transaction: save() throws outside of one.
 *
 * What writes without models, such as insert(), upsert() or update() of a query, and saveQuietly(), does not call listeners: there, call
 * Adds::add() before you commit.
 */
final class AddKeysOfModels
{
    /** @var \WeakMap<Model, KeysBySet> what was added before the SQL of a model */
    private \WeakMap $added;

    /** @psalm-suppress PropertyTypeCoercion (the map is empty) */
    public function __construct(private readonly Adds $adds)
    {
        $this->added = new \WeakMap();
    }

    /**
     * For eloquent.creating and eloquent.updating.
     *
     * @param array{Model} $models
     */
    public function beforeSql(string $event, array $models): void
    {
        [$model] = $models;
        if ($model instanceof InSets && $model->getConnection()->transactionLevel() === 0) {
            $keys = self::newKeys($model, str_starts_with($event, 'eloquent.updating'));
            $keys->addTo($this->adds);
            $this->added[$model] = $keys;
        }
    }

    /**
     * For eloquent.created and eloquent.updated.
     *
     * @param array{Model} $models
     */
    public function afterSql(string $event, array $models): void
    {
        [$model] = $models;
        if (!$model instanceof InSets) {
            return;
        }
        $added = $this->added[$model] ?? null;
        $keys = self::newKeys($model, str_starts_with($event, 'eloquent.updated'))->butNot($added ?? KeysBySet::none());
        unset($this->added[$model]);
        $keys->addTo($this->adds);
        if (!$keys->isEmpty() && $model->getConnection()->transactionLevel() === 0) {
            throw new \LogicException($model::class . ': keys were known only after the row was there: save it in a transaction');
        }
    }

    private static function newKeys(Model&InSets $model, bool $isUpdate): KeysBySet
    {
        $keys = KeysBySet::of($model);
        if (!$isUpdate) {
            return $keys;
        }
        $before = $model->newInstance([], true)->setRawAttributes($model->getRawOriginal());
        return $keys->butNot(KeysBySet::of($before));
    }
}
