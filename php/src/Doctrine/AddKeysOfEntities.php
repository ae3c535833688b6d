<?php

declare(strict_types=1);

namespace KeySieve\Doctrine;

use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Event\OnFlushEventArgs;
use Doctrine\Persistence\Event\LifecycleEventArgs;
use KeySieve\Adds\Adds;
use KeySieve\Adds\InSets;
use KeySieve\Adds\KeysBySet;

/**
 * Adds the keys of entities that are InSets. Listens to onFlush, postPersist and postUpdate.
 *
 * The last two come between an entity's SQL and the commit: its id is known, a unique index has accepted it, and others do not see
 * it yet. The first of them adds the keys of the whole flush in one call per set. If the store does not take them, flush() throws and rolls
 * back. A transaction that is rolled back later costs a needless maybe.
 *
 * DQL and DBAL do not call listeners: there, call Adds::add() before you commit.
 */
final class AddKeysOfEntities
{
    /** @var array<InSets> what this flush inserts and was not added yet */
    private array $inserted = [];
    /** @var array<InSets> what it updates */
    private array $updated = [];
    private KeysBySet $added;

    public function __construct(private readonly Adds $adds)
    {
        $this->added = KeysBySet::none();
    }

    public function onFlush(OnFlushEventArgs $event): void
    {
        $unit = $event->getObjectManager()->getUnitOfWork();
        $this->inserted = array_filter($unit->getScheduledEntityInsertions(), static fn (object $entity): bool => $entity instanceof InSets);
        $this->updated = array_filter($unit->getScheduledEntityUpdates(), static fn (object $entity): bool => $entity instanceof InSets);
        $this->added = KeysBySet::none();
    }

    /** @param LifecycleEventArgs<EntityManagerInterface> $event */
    public function postPersist(LifecycleEventArgs $event): void
    {
        $entity = $event->getObject();
        if ($entity instanceof InSets) {
            $this->add(KeysBySet::of($entity), $event->getObjectManager());
        }
    }

    /** @param LifecycleEventArgs<EntityManagerInterface> $event */
    public function postUpdate(LifecycleEventArgs $event): void
    {
        $entity = $event->getObject();
        if ($entity instanceof InSets) {
            $this->add(self::newKeys($entity, $event->getObjectManager()), $event->getObjectManager());
        }
    }

    /** Adds what has not been added, and then that of all others too. */
    private function add(KeysBySet $keys, EntityManagerInterface $entities): void
    {
        $keys = $keys->butNot($this->added);
        if ($keys->isEmpty()) {
            return;
        }
        foreach ($this->inserted as $entity) {
            $keys = $keys->and(KeysBySet::of($entity));
        }
        foreach ($this->updated as $entity) {
            $keys = $keys->and(self::newKeys($entity, $entities));
        }
        $this->inserted = $this->updated = [];
        $keys = $keys->butNot($this->added);
        $keys->addTo($this->adds);
        $this->added = $this->added->and($keys);
    }

    private static function newKeys(InSets $entity, EntityManagerInterface $entities): KeysBySet
    {
        $class = $entities->getClassMetadata($entity::class);
        $changes = $entities->getUnitOfWork()->getEntityChangeSet($entity);
        $before = $class->newInstance();
        $after = $class->newInstance(); // as it is written: a listener of preUpdate may have changed that, and not the entity
        assert($before instanceof InSets && $after instanceof InSets);
        foreach ([...$class->getFieldNames(), ...$class->getAssociationNames()] as $field) {
            $value = $class->getFieldValue($entity, $field);
            $class->setFieldValue($before, $field, array_key_exists($field, $changes) ? $changes[$field][0] : $value);
            $class->setFieldValue($after, $field, array_key_exists($field, $changes) ? $changes[$field][1] : $value);
        }
        return KeysBySet::of($after)->butNot(KeysBySet::of($before));
    }
}
