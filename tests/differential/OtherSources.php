<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Where the package finds sets besides published directories. The same snapshot must give the same answers wherever it lies. */
final class OtherSources
{
    private const CHUNK_BYTES = 65504;

    /** @param string $folder for files, which workers may read */
    public function __construct(private readonly string $folder)
    {
    }

    /**
     * Puts copies of a snapshot there, each under a name of its own, since a process asks for a set at one place.
     *
     * @return array<string, string> sources by the name that the set has there
     */
    public function copy(SnapshotBytes $snapshot, string $set): array
    {
        $file = self::renamed($snapshot, "$set-file");
        file_put_contents("$this->folder/$set-file.ks", $file->bytes);
        $this->push("$set-pushed", self::renamed($snapshot, "$set-pushed"));
        return ["$set-file" => "files:$this->folder", "$set-pushed" => "dir:$this->folder"];
    }

    public function remove(string $set): void
    {
        array_map(unlink(...), glob("$this->folder/*$set-*"));
    }

    /** Its header is sealed only if it was. */
    private static function renamed(SnapshotBytes $snapshot, string $set): SnapshotBytes
    {
        $copy = new SnapshotBytes($snapshot->bytes);
        $isSealed = $copy->sealHeader()->bytes === $snapshot->bytes;
        $copy = (new SnapshotBytes($snapshot->bytes))->put('set_name', $set);
        return $isSealed ? $copy->sealHeader() : $copy;
    }

    /** As `keysieve push` to a dir: store. */
    private function push(string $set, SnapshotBytes $snapshot): void
    {
        $push = str_repeat('0', 32);
        $buildId = bin2hex(substr($snapshot->bytes, 104, 16));
        $current = ['generation' => 1, 'build_id' => $buildId, 'push_id' => $push, 'bytes' => strlen($snapshot->bytes), 'as_of' => 0, 'adds_from' => '0-0'];
        $record = ['format' => 1, 'current' => $current, 'adds_trimmed_to' => '0-0',
            'adds_log' => ['begun' => '0-0', 'position' => '0-0', 'lost_to' => '0-0', 'ordinal' => 0]];
        file_put_contents("$this->folder/keysieve:$set:current", json_encode($record));
        foreach (str_split($snapshot->bytes, self::CHUNK_BYTES) as $number => $chunk) {
            $header = pack('a4V', 'KSC1', $number) . strrev(hash('xxh3', $chunk, true));
            file_put_contents("$this->folder/keysieve:$set:$push:$number", $header . $chunk);
        }
    }
}
