<?php

declare(strict_types=1);

namespace KeySieve\Build;

use KeySieve\InvalidNameException;
use KeySieve\Keys\BuiltIn;
use KeySieve\Keys\KeyFunction;
use KeySieve\Reader\Arguments;
use KeySieve\Reader\Snapshot;

/**
 * Builds a set of kind split_block_bloom from keys, in PHP alone: the bytes that `keysieve build` makes of the same list.
 *
 *     $builder = new Builder('tags', fpr: 0.01);
 *     $builder->add($pdo->query('SELECT name FROM tags', PDO::FETCH_COLUMN, 0));
 *     $builder->write('/srv/sets/tags.ks');
 *
 * Needs 8 bytes of memory per key, and twice the bytes of the set.
 */
final class Builder
{
    public const LONGEST_KEY = 1 << 20; // bytes
    private const LONGEST_PROFILE = 64; // bytes
    private const LATEST_MOMENT = 10 ** 12;
    private const PAGE_BYTES = 4096;
    private const HEADER = 'a8vCCVa16VVPCx15eePPPa16x16a64a64PPPPPPPa8x3760';
    private const PROGRESS_STEP = 1 << 16;

    private readonly int $asOf;
    private readonly string $seed;
    /** @var array{secret: string} */
    private readonly array $hashing;
    private readonly SuspectKeys $suspects;
    /** @var array<array-key, string> hashes of 8 bytes, by their first byte */
    private array $hashes;
    private int $given = 0;
    private bool $isWhole = true;
    /** @var ?class-string<KeyFunction> */
    private readonly ?string $function;

    /**
     * @param string $set 1 to 64 characters a-z, 0-9, _ or -
     * @param float $fpr the share of absent keys that get a maybe: 1e-6 to 0.5
     * @param string $keyProfile names how keys are normalised, in at most 64 bytes; other keys than those of a built-in one are refused
     * @param ?int $asOf when the keys began to be read from their source, in Unix seconds; null: now
     * @param int $validFor for how many seconds after $asOf the set answers; 0: without end
     * @param int $shardBytes 1024, 2048, 4096 or 8192
     * @param ?string $seed of the hashes, 16 bytes that are not all zero; null: random ones
     * @param bool $allowSuspectKeys whether keys may look like CSV, JSON, a program's messages, binary numbers
     * @param ?\Closure(int): mixed $progress is called with the number of keys given, now and then
     * @throws InvalidNameException
     * @throws \ValueError for another argument out of its range
     */
    public function __construct(
        private readonly string $set,
        private readonly float $fpr = 0.01,
        private readonly string $keyProfile = '',
        ?int $asOf = null,
        private readonly int $validFor = 0,
        private readonly int $shardBytes = 4096,
        ?string $seed = null,
        private readonly bool $allowSuspectKeys = false,
        private readonly ?\Closure $progress = null,
    ) {
        Arguments::setName($set, __METHOD__ . '(): Argument #1 ($set) must be');
        Sizing::check($fpr, $shardBytes);
        $this->asOf = $asOf ?? time();
        foreach (['asOf' => $this->asOf, 'validFor' => $validFor] as $name => $seconds) {
            if ($seconds < 0 || $seconds > self::LATEST_MOMENT) {
                throw new \ValueError("$name must be 0 to 10^12 seconds, not $seconds");
            }
        }
        if (strlen($keyProfile) > self::LONGEST_PROFILE || str_contains($keyProfile, "\0")) {
            throw new \ValueError('keyProfile must have at most ' . self::LONGEST_PROFILE . ' bytes, and no NUL');
        }
        $this->function = BuiltIn::function($keyProfile);
        $this->seed = $seed ?? random_bytes(16);
        if (strlen($this->seed) !== 16 || trim($this->seed, "\0") === '') {
            throw new \ValueError('seed must have 16 bytes that are not all zero');
        }
        $this->hashing = ['secret' => Snapshot::secret($this->seed)];
        $this->hashes = array_fill_keys(array_map('chr', range(0, 255)), '');
        $this->suspects = new SuspectKeys();
    }

    /**
     * May be called several times, and keys may come several times. After an exception, even one of the source, nothing can be built any more.
     *
     * @param iterable<mixed, string|int> $keys
     * @throws WrongKeys for a key longer than LONGEST_KEY, and for keys that a built-in key profile does not allow, some of which it shows
     * @throws \TypeError for an element that is no key
     */
    public function add(iterable $keys): static
    {
        [$wasWhole, $this->isWhole] = [$this->isWhole, false];
        $refused = [];
        foreach ($keys as $key) {
            if (!is_string($key)) {
                $key = is_int($key) ? (string) $key : throw new \TypeError('a key must be string|int, ' . get_debug_type($key) . ' given');
            }
            if (strlen($key) > self::LONGEST_KEY) {
                throw new WrongKeys('a key has ' . strlen($key) . ' bytes, more than ' . self::LONGEST_KEY . ': ' . substr($key, 0, 40) . '...');
            }
            if ($this->function !== null && $this->function::of($key) !== $key) {
                $refused = array_slice([...$refused, $key], 0, SuspectKeys::SHOWN);
            }
            /** @psalm-suppress InvalidArgument (it knows no option but the seed) */
            $hash = hash('xxh3', $key, true, $this->hashing);
            $this->hashes[$hash[0]] .= $hash;
            $this->suspects->see($key);
            if (++$this->given % self::PROGRESS_STEP === 0 && $this->progress !== null) {
                ($this->progress)($this->given);
            }
        }
        if ($refused !== []) {
            throw new WrongKeys("the key profile $this->keyProfile does not allow keys such as " . SuspectKeys::examples($refused));
        }
        $this->isWhole = $wasWhole;
        return $this;
    }

    /**
     * The set, as of the keys given so far.
     *
     * @throws \LogicException after an add() that has thrown: keys are missing
     * @throws WrongKeys if they look like something else, such as CSV
     * @throws \ValueError for more keys than a set can have
     */
    public function bytes(): string
    {
        if (!$this->isWhole) {
            throw new \LogicException("add() has not taken all keys of the set \"$this->set\", which would be absent: build it anew");
        }
        if (!$this->allowSuspectKeys) {
            $this->suspects->check();
        }
        $keys = 0;
        foreach ($this->parts() as $hashes) {
            $keys += count($hashes);
        }
        $count = Sizing::shards($keys, $this->fpr, $this->shardBytes);
        $shards = new Shards($count, $this->shardBytes, $this->parts());
        /** @var int<1, max> $shardBytes */
        $shardBytes = $this->shardBytes;
        $checksums = implode('', array_map(self::checksum(...), str_split($shards->bytes, $shardBytes)));
        $tables = $shards->entries . $checksums;
        $shardsAt = self::PAGE_BYTES + intdiv(strlen($tables) + self::PAGE_BYTES - 1, self::PAGE_BYTES) * self::PAGE_BYTES;
        $tables = str_pad($tables, $shardsAt - self::PAGE_BYTES, "\0");
        $header = pack(
            self::HEADER,
            ...['KEYSIEVE', 1, 4, 1, self::PAGE_BYTES, $this->seed, $this->shardBytes, $count, $keys, 8],
            ...[$this->fpr, $shards->estimatedFpr + Sizing::sameHash($keys), $this->asOf, time(), $this->validFor, random_bytes(16)],
            ...[$this->set, $this->keyProfile, $shardsAt + strlen($shards->bytes), self::PAGE_BYTES, strlen($shards->entries)],
            ...[self::PAGE_BYTES + strlen($shards->entries), strlen($checksums), $shardsAt, strlen($shards->bytes), self::checksum($tables)],
        );
        return $header . self::checksum($header) . $tables . $shards->bytes;
    }

    /**
     * Writes the set to a file, which is replaced as a whole or not at all.
     *
     * @throws WrongKeys|\ValueError as bytes()
     * @throws CannotWrite
     */
    public function write(string $path): void
    {
        NewFile::replace($path, $this->bytes());
    }

    /**
     * Publishes the set on this host, where no loader feeds it: extension and package answer from it at their next request, and a process
     * that serves many of them within half a second.
     *
     * @param string $directory where they look, for example /dev/shm/sets; made if it is missing. They trust root, their own user and
     *     keysieve.owner: run this as one of these
     * @param ?string $group of the processes that will read it; null: that of the directory, or as the system says
     * @throws WrongKeys|\ValueError as bytes()
     * @throws CannotWrite if a loader feeds the set, or the set is bypassed; then what was published before stays
     */
    public function publish(string $directory, ?string $group = null): void
    {
        (new Publication($directory, $this->set))->replace($this->bytes(), $group);
    }

    /** @return \Generator<int, array<int, mixed>> as Shards takes them */
    private function parts(): \Generator
    {
        for ($byte = 0; $byte < 256; ++$byte) {
            /** @var array<int, int> $hashes */
            $hashes = unpack('J*', $this->hashes[chr($byte)]);
            yield $byte => array_flip($hashes);
        }
    }

    private static function checksum(string $bytes): string
    {
        return strrev(hash('xxh3', $bytes, true));
    }
}
