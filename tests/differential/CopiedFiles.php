<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** The package's other source. A snapshot must give the same answers whether a loader has published it or it lies in a folder. */
final class CopiedFiles
{
    public readonly string $source;

    /** @param string $folder for files, which workers may read */
    public function __construct(private readonly string $folder)
    {
        $this->source = "files:$folder";
    }

    /** Puts a copy of a snapshot there, under a name of its own, since a process asks for a set at one place. */
    public function copy(SnapshotBytes $snapshot, string $set): void
    {
        file_put_contents("$this->folder/$set.ks", self::renamed($snapshot, $set)->bytes);
    }

    public function remove(string $set): void
    {
        unlink("$this->folder/$set.ks");
    }

    /** Its header is sealed only if it was. */
    private static function renamed(SnapshotBytes $snapshot, string $set): SnapshotBytes
    {
        $copy = new SnapshotBytes($snapshot->bytes);
        $isSealed = $copy->sealHeader()->bytes === $snapshot->bytes;
        $copy = (new SnapshotBytes($snapshot->bytes))->put('set_name', $set);
        return $isSealed ? $copy->sealHeader() : $copy;
    }
}
