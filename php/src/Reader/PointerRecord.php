<?php

declare(strict_types=1);

namespace KeySieve\Reader;

/** What a reader needs of a store's pointer record: which snapshot is current. */
final class PointerRecord
{
    private const FORMAT = 1;
    private const ADDS_OVERLAP = 600; // seconds: the default of keysieve build
    private const CHECKSUM = '/"record_checksum":"([0-9a-f]{16})"/';

    private function __construct(
        public readonly int $generation,
        public readonly string $buildId,
        public readonly string $pushId,
        public readonly int $bytes,
        public readonly string $addsFrom,
        public readonly string $addsTrimmedTo,
        public readonly LogWitness $addsLog,
        private readonly int $asOf,
    ) {
    }

    /** A log that was trimmed further has lost keys. A snapshot that was built without the log knows only its as_of. */
    public function addsNeededFrom(): string
    {
        $hasLooked = trim($this->addsFrom, "\0") !== '';
        return $hasLooked ? $this->addsFrom : pack('J2', 1000 * max(0, $this->asOf - self::ADDS_OVERLAP), 0);
    }

    /**
     * Null before the first push is done.
     *
     * @throws Failure
     */
    public static function decode(string $text, string $source): ?self
    {
        $record = json_decode($text, true);
        if (!is_array($record) || !is_int($record['format'] ?? null)) {
            throw Failure::data("$source: is not JSON, or \"format\" is missing");
        }
        if ($record['format'] !== self::FORMAT) {
            throw Failure::incompatible("$source: has record format {$record['format']}; this version reads " . self::FORMAT);
        }
        self::checkChecksum($text, $source);
        $current = $record['current'] ?? null;
        if ($current === null) {
            return null;
        }
        $members = ['generation' => 'is_int', 'build_id' => 'is_string', 'push_id' => 'is_string', 'bytes' => 'is_int', 'as_of' => 'is_int', 'adds_from' => 'is_string'];
        foreach ($members as $member => $is) {
            if (!is_array($current) || !isset($current[$member]) || !$is($current[$member])) {
                throw Failure::data("$source: \"current\": \"$member\" is missing or not valid");
            }
        }
        /** @var array{generation: int, build_id: string, push_id: string, bytes: int, as_of: int, adds_from: string} $current */
        if (preg_match('/\A[0-9a-f]{32}\z/', $current['push_id']) !== 1) {
            throw Failure::data("$source: \"current\": \"push_id\" is not 32 hexadecimal digits");
        }
        $trimmedTo = $record['adds_trimmed_to'] ?? '';
        return new self(
            $current['generation'],
            $current['build_id'],
            $current['push_id'],
            $current['bytes'],
            self::position($current['adds_from'], $source),
            self::position(is_string($trimmedTo) ? $trimmedTo : 'no position', $source),
            self::witness($record['adds_log'] ?? null, $source),
            $current['as_of'],
        );
    }

    /** @throws Failure */
    private static function witness(mixed $log, string $source): LogWitness
    {
        $positions = [];
        foreach (['begun', 'position', 'lost_to'] as $member) {
            $text = is_array($log) ? $log[$member] ?? null : null;
            $positions[] = self::position(is_string($text) ? $text : 'no position', $source);
        }
        if (!is_array($log) || !is_int($log['ordinal'] ?? null)) {
            throw Failure::data("$source: \"adds_log\" is not valid");
        }
        return new LogWitness($positions[0], $positions[1], $positions[2], $log['ordinal']);
    }

    /** It covers the whole text, with zeros in its own place. */
    private static function checkChecksum(string $text, string $source): void
    {
        if (preg_match(self::CHECKSUM, $text, $match, PREG_OFFSET_CAPTURE) !== 1) {
            return;
        }
        [$digits, $at] = $match[1];
        if (hash('xxh3', substr_replace($text, str_repeat('0', 16), $at, 16)) !== $digits) {
            throw Failure::data("$source: is damaged (checksum)");
        }
    }

    /** A position in a log, as the 16 bytes that log files have. */
    private static function position(string $text, string $source): string
    {
        if (preg_match('/\A(\d{1,19})-(\d{1,19})\z/', $text, $match) !== 1) {
            throw Failure::data("$source: \"$text\" is not a position in a log");
        }
        return pack('J2', (int) $match[1], (int) $match[2]);
    }
}
