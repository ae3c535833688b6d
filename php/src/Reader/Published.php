<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** A publication of the loader: files PUBLICATION.ks and PUBLICATION.live in a set's folder. */
final class Published implements Publication
{
    private readonly int $instance;
    private readonly Snapshot $snapshot;
    private readonly LiveLayer $layer;

    /**
     * @param ControlPage $control that names it; another page may take its place
     * @throws Failure
     */
    public function __construct(Folder $folder, string $set, public ControlPage $control, public readonly int $number)
    {
        $this->instance = $control->instance;
        $name = sprintf('%016x', $number);
        $snapshot = $folder->open("$name.ks");
        if ($snapshot->size() < Header::BYTES) {
            throw Failure::data("{$snapshot->name()}: is cut short: {$snapshot->size()} bytes");
        }
        $this->layer = new LiveLayer($folder->open("$name.live"), $control->instance, $number);
        $this->snapshot = Snapshot::of($set, $snapshot);
        if ($this->layer->seed !== $this->snapshot->header->hasher->seed) {
            throw Failure::data($this->layer->name() . ': live page has another seed than its snapshot');
        }
    }

    public function snapshot(): Snapshot
    {
        return $this->snapshot;
    }

    public function isOf(ControlPage $control): bool
    {
        return $this->instance === $control->instance;
    }

    public function hasAdded(): bool
    {
        return $this->layer->keys() !== 0;
    }

    public function addedMayContain(int $hash): bool
    {
        return $this->layer->mayContain($hash);
    }

    public function facts(): array
    {
        return [
            'generation' => $this->layer->generation,
            'publication' => $this->number,
            'publishedAt' => $this->layer->publishedAt,
            'lastConfirmedAt' => $this->control->lastConfirmed(),
            'addedKeys' => $this->layer->keys(),
        ];
    }
}
