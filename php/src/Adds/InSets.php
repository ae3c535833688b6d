<?php

declare(strict_types=1);

namespace KeySieve\Adds;

/**
 * An entity of Doctrine or a model of Eloquent whose keys are in sets. They are added before its row is committed: when it is inserted,
 * and when an update gives it other keys.
 */
interface InSets
{
    /**
     * What a build would list for this row, as lookups ask for it; null or nothing for a row that it would leave out. Only from columns of
     * this row: changes of other rows are not noticed.
     *
     *     return ['tags' => TagKey::of($this->name), 'products' => $this->id];
     *
     * @return array<string, string|int|null|list<string|int>> keys by set
     */
    public function keysInSets(): array;
}
