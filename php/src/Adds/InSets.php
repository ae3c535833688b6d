<?php

declare(strict_types=1);

namespace KeySieve\Adds;

/**
 * An entity of Doctrine whose keys are in sets, or a model of Eloquent, which also uses KeySieve\Laravel\AddsKeys. The keys are added
 * before the row is committed: when it is inserted, and when an update gives it other keys.
 *
 * Doctrine compares an update with the row as it has read it. Call clear() after a rollback, and use #[Version] if another process may
 * change the row between your read and your write; otherwise keys may be missing.
 */
interface InSets
{
    /**
     * What a build would list for this row, as lookups ask for it; null or nothing for a row that it would leave out, such as
     * one that is marked as deleted. Only from columns of this row: changes of other rows are not noticed.
     *
     *     return ['tags' => TagKey::of($this->name), 'products' => $this->id];
     *
     * @return array<string, string|int|null|list<string|int>> keys by set
     */
    public function keysInSets(): array;
}
