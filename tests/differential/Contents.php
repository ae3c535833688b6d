<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Draws the snapshots that a story publishes: as they were built, damaged, and forged. */
final class Contents
{
    /** The package does not check all tables of larger snapshots before it answers, so forged ones may be ready until it has to. */
    public const MOST_SHARDS = 1024;

    /** @param list<BuiltSet> $builtSets */
    public function __construct(private readonly Random $random, private readonly string $set, private readonly array $builtSets)
    {
    }

    public function draw(int $now): Content
    {
        return match ($this->random->weighted(['built' => 50, 'unreadable' => 10, 'damaged' => 25, 'forged' => 15])) {
            'built' => $this->built($now),
            'unreadable' => $this->unreadable($now),
            'damaged' => $this->damaged($now),
            'forged' => $this->forged(),
        };
    }

    private function built(int $now): Content
    {
        $built = $this->random->of($this->builtSets);
        $snapshot = new SnapshotBytes($built->bytes);
        $asOf = $now - $this->random->size(10_000);
        $validFor = $this->random->chance(0.7) ? 0 : max(1, $now - $asOf + $this->random->between(-10, 100));
        $snapshot->put('set_name', $this->set)->put('as_of', $asOf)->put('built_at', $asOf + 1)->put('valid_for', $validFor)->sealHeader();
        return new Content(
            $snapshot,
            $built->keys,
            $built->absent,
            $validFor === 0 ? 0 : $asOf + $validFor,
            $built->description . ($validFor === 0 ? '' : ", valid for $validFor s"),
        );
    }

    /** It must be refused. */
    private function unreadable(int $now): Content
    {
        $content = $this->built($now);
        $snapshot = $content->snapshot;
        $length = strlen($snapshot->bytes);
        switch ($this->random->of(['cut', 'longer', 'format', 'kind', 'header', 'tables', 'set', 'count', 'missing'])) {
            case 'cut':
                $end = $this->random->of([0, 4095, 4096, $length - 1, $this->random->between(0, $length - 1)]);
                $snapshot->bytes = substr($snapshot->bytes, 0, $end);
                return $content->unreadable('cut to ' . strlen($snapshot->bytes) . ' bytes');
            case 'longer':
                $snapshot->bytes .= "\0";
                return $content->unreadable('a byte too long');
            case 'format':
                $snapshot->put('format', 2)->sealHeader();
                return $content->unreadable('of format 2');
            case 'kind':
                $snapshot->put('kind', $this->random->of([0, 9, 10, 255]))->sealHeader();
                return $content->unreadable('of an unknown kind');
            case 'header':
                $snapshot->bytes[$at = $this->random->between(16, 4095)] = $snapshot->bytes[$at] ^ "\x10";
                return $content->unreadable("byte $at of the header is wrong");
            case 'tables':
                $snapshot->bytes[$at = $this->random->between(4096, $snapshot->number('shards_at') - 1)] = $snapshot->bytes[$at] ^ "\x10";
                return $content->unreadable("byte $at of the tables is wrong");
            case 'set':
                $snapshot->put('set_name', 'another')->sealHeader();
                return $content->unreadable('of another set');
            case 'count':
                $snapshot->put('key_count', $snapshot->number('key_count') + 1)->sealHeader();
                return $content->unreadable('with a wrong count of keys');
            default:
                return $content->missing($this->random->of(['ks', 'live']));
        }
    }

    private function damaged(int $now): Content
    {
        $content = $this->built($now);
        $whats = [];
        for ($left = 1 + $this->random->size(2); $left > 0; --$left) {
            $whats[] = $content->snapshot->damage($this->random);
        }
        if ($content->snapshot->number('shard_count') > self::MOST_SHARDS) {
            return $this->built($now);
        }
        $isSealed = $this->random->chance(0.9);
        $isSealed ? $content->snapshot->seal() : $content->snapshot->sealShards();
        return $content->unknown(implode(', ', $whats) . ($isSealed ? ', sealed' : ''));
    }

    private function forged(): Content
    {
        $snapshot = ForgedSnapshot::draw($this->random)->put('set_name', $this->set);
        $what = 'forged, kind ' . $snapshot->number('kind');
        if ($this->random->chance(0.2)) {
            $what .= ', ' . $snapshot->damage($this->random);
        }
        return (new Content($snapshot->seal(), [], [], 0, $what))->unknown('');
    }
}

/** A snapshot that is to be published, and what is known of it. */
final readonly class Content
{
    /**
     * @param list<string> $keys       that it must have, if it is taken
     * @param list<string> $absent     known-absent keys
     * @param bool         $isReadable false: it must not be taken
     * @param bool         $isKnown    false: nobody knows its keys, or whether it can be read
     * @param ?string      $missing    ending of a file of the publication that is not there
     */
    public function __construct(
        public SnapshotBytes $snapshot,
        public array $keys,
        public array $absent,
        public int $validUntil,
        public string $description,
        public bool $isReadable = true,
        public bool $isKnown = true,
        public ?string $missing = null,
    ) {
    }

    public function unreadable(string $why): self
    {
        return new self($this->snapshot, $this->keys, [], 0, "$this->description, $why", false);
    }

    public function missing(string $ending): self
    {
        return new self($this->snapshot, $this->keys, [], 0, "$this->description, without its .$ending", false, true, $ending);
    }

    public function unknown(string $why): self
    {
        return new self($this->snapshot, [], [], $this->validUntil, $this->description . ($why === '' ? '' : ", $why"), isKnown: false);
    }
}
