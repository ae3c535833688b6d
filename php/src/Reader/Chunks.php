<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/**
 * A snapshot in chunks, each a file of a dir: store. The checksums of chunks are for those who copy them; here those of the
 * snapshot cover every byte that is used.
 */
final class Chunks implements Bytes
{
    private const HEADER_BYTES = 16;
    private const PAYLOAD_BYTES = 65504;

    /** @param string $path of the chunks, without their numbers */
    public function __construct(private readonly string $path, private readonly int $size, private readonly string $name)
    {
    }

    public function size(): int
    {
        return $this->size;
    }

    public function name(): string
    {
        return $this->name;
    }

    public function read(int $offset, int $length): string
    {
        if ($offset + $length > $this->size) {
            throw Failure::data("$this->name: is cut short: it ends before byte " . $offset + $length);
        }
        $bytes = '';
        while ($length > 0) {
            $chunk = intdiv($offset, self::PAYLOAD_BYTES);
            $at = $offset % self::PAYLOAD_BYTES;
            $piece = min($length, self::PAYLOAD_BYTES - $at);
            $bytes .= File::open($this->path . $chunk)->read(self::HEADER_BYTES + $at, $piece);
            $offset += $piece;
            $length -= $piece;
        }
        return $bytes;
    }
}
