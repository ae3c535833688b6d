<?php

declare(strict_types=1);

namespace KeySieve\Doctrine;

use Doctrine\DBAL\Connection;
use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Event\OnFlushEventArgs;
use Doctrine\Persistence\Event\LifecycleEventArgs;
use KeySieve\Adds\Adds;
use KeySieve\Adds\InSets;
use KeySieve\Adds\KeysBySet;
use KeySieve\Adds\OpenTransaction;

/**
 * Adds the keys of entities that are InSets. Listens to onFlush, postPersist and postUpdate.
 *
 * The last two come between an entity's SQL and the commit: its id is known, a unique index has accepted it, and others do not see
 * it yet. The first of them adds the keys of the whole flush in one call per set. If the store does not take them, flush() throws and rolls
 * back. A transaction that is rolled back later costs a needless maybe.
 *
 * DQL and DBAL do not call listeners: there, call Adds::add() before you commit. If the database has ended a transaction that the
 * application began, flush() throws and writes nothing; only PDO tells, mysqli does not.
 */
final class AddKeysOfEntities
{
    /** @var array<InSets> to be inserted, until one call has added the keys of all */
    private array $inserted = [];
    /** @var array<int, InSets> to be updated, likewise; by object id */
    private array $updated = [];
    /** @var \WeakMap<InSets, KeysBySet> the keys that entities had before their update. Another listener may flush meanwhile, so no flush resets it. */
    private \WeakMap $before;
    private KeysBySet $added;

    public function __construct(private readonly Adds $adds)
    {
        /** @psalm-suppress PropertyTypeCoercion (it is empty) */
        $this->before = new \WeakMap();
        $this->added = KeysBySet::none();
    }

    public function onFlush(OnFlushEventArgs $event): void
    {
        self::checkTransaction($event->getObjectManager()->getConnection());
        $unit = $event->getObjectManager()->getUnitOfWork();
        $this->inserted = array_filter($unit->getScheduledEntityInsertions(), static fn (object $entity): bool => $entity instanceof InSets);
        $this->updated = array_filter($unit->getScheduledEntityUpdates(), static fn (object $entity): bool => $entity instanceof InSets);
        $this->added = KeysBySet::none();
        foreach ($this->updated as $entity) {
            $this->before[$entity] = self::keys($entity, $event->getObjectManager(), 0);
        }
    }

    /** @param LifecycleEventArgs<EntityManagerInterface> $event */
    public function postPersist(LifecycleEventArgs $event): void
    {
        $entity = $event->getObject();
        if ($entity instanceof InSets) {
            $this->add(self::keysOfInserted($entity, $event->getObjectManager()), $event->getObjectManager());
        }
    }

    /** @param LifecycleEventArgs<EntityManagerInterface> $event */
    public function postUpdate(LifecycleEventArgs $event): void
    {
        $entity = $event->getObject();
        if ($entity instanceof InSets) {
            $keys = $this->newKeys($entity, $event->getObjectManager());
            unset($this->before[$entity], $this->updated[spl_object_id($entity)]);
            $this->add($keys, $event->getObjectManager());
        }
    }

    private static function checkTransaction(Connection $connection): void
    {
        $database = $connection->isTransactionActive() ? $connection->getNativeConnection() : null;
        if ($database instanceof \PDO) {
            OpenTransaction::check($database);
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
            $keys = $keys->and(self::keysOfInserted($entity, $entities));
        }
        foreach ($this->updated as $entity) {
            $keys = $keys->and($this->newKeys($entity, $entities));
        }
        $this->inserted = $this->updated = [];
        $keys = $keys->butNot($this->added);
        $keys->addTo($this->adds);
        $this->added = $this->added->and($keys);
    }

    /** Listeners may have changed the entity after it was written, and only the entity has what the database generated. So it adds the keys of both. */
    private static function keysOfInserted(InSets $entity, EntityManagerInterface $entities): KeysBySet
    {
        return self::keys($entity, $entities, 1)->and(KeysBySet::of($entity));
    }

    private function newKeys(InSets $entity, EntityManagerInterface $entities): KeysBySet
    {
        $keys = self::keys($entity, $entities, 1);
        if ($entities->getClassMetadata($entity::class)->requiresFetchAfterChange) { // what the database generates is in no change set
            $keys = $keys->and(KeysBySet::of($entity));
        }
        $before = $this->before[$entity] ?? null;
        return $before === null ? $keys : $keys->butNot($before);
    }

    /** @param 0|1 $side of the changes: what was read, or what is written, which a listener of preUpdate may have changed, and not the entity */
    private static function keys(InSets $entity, EntityManagerInterface $entities, int $side): KeysBySet
    {
        $class = $entities->getClassMetadata($entity::class);
        $changes = $entities->getUnitOfWork()->getEntityChangeSet($entity);
        $row = $class->newInstance();
        assert($row instanceof InSets);
        foreach ([...$class->getFieldNames(), ...$class->getAssociationNames()] as $field) {
            $value = array_key_exists($field, $changes) ? $changes[$field][$side] : $class->getFieldValue($entity, $field);
            $class->setFieldValue($row, $field, $value);
        }
        return KeysBySet::of($row);
    }
}
