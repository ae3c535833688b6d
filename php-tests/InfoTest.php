<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Set;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\Group;

/** Info and stats(): what can be known of a set and of its use. */
final class InfoTest extends TestCase
{
    private const KEYS = 10_000;

    public function testInfoSaysWhatWasBuiltAndPublished(): void
    {
        $before = time();
        SharedMemory::put('described', range(1, self::KEYS), [
            '--fpr', '0.01',
            '--kind', 'blocked_bloom', '--shard-size', '2KiB', '--key-profile', 'decimal',
            '--as-of', '@' . ($before - 3_600), '--valid-for', '2d',
        ]);
        $info = (new Set('described'))->info();
        self::assertSame(0, $info->generation, 'from a file, not from a store');
        self::assertSame(1, $info->publication);
        self::assertSame('blocked_bloom', $info->kind);
        self::assertSame(self::KEYS, $info->keyCount);
        self::assertSame(0, $info->knownAbsentCount, 'it was built without');
        self::assertSame(2048, $info->shardBytes);
        self::assertGreaterThan($info->shardCount * $info->shardBytes, $info->sizeBytes);
        self::assertSame(filesize(SharedMemory::directory() . '/described.ks'), $info->sizeBytes);
        self::assertEqualsWithDelta(8 * $info->sizeBytes / self::KEYS, $info->bitsPerKey, 1e-9);
        self::assertSame(0.01, $info->targetFalsePositiveRate);
        self::assertLessThan(0.011, $info->estimatedFalsePositiveRate);
        self::assertGreaterThan(0.001, $info->estimatedFalsePositiveRate);
        self::assertEqualsWithDelta(0.5, $info->fillRatio, 0.1);
        self::assertSame('decimal', $info->keyProfile);
        self::assertSame($before - 3_600, $info->asOf->getTimestamp());
        self::assertSame($before - 3_600 + 172_800, $info->validUntil->getTimestamp());
        foreach ([$info->builtAt, $info->publishedAt] as $moment) {
            self::assertGreaterThanOrEqual($before, $moment->getTimestamp());
            self::assertLessThanOrEqual(time(), $moment->getTimestamp());
            self::assertSame('+00:00', $moment->getTimezone()->getName());
        }
        self::assertNull($info->lastConfirmedAt, 'no loader has looked');
        self::assertSame(0, $info->addedKeys);
        self::assertNull($info->trouble);
    }

    #[Group('extension')]
    public function testPhpinfoHasARowForEachSetThatWasAsked(): void
    {
        $windows = SeenWindows::open('shown', 100);
        $windows->append();
        SharedMemory::put('known-info', ['apple'], ['--known-absent', SharedMemory::list('absent', self::keys(5_000, 'absent'))]);
        SharedMemory::put('plain-info', ['apple', 'pear']);
        SharedMemory::publish(SharedMemory::buildMap('map-info', ['apple' => 65_535]));
        $code = <<<'PHP'
            KeySieve\candidate_sets(['known-info', 'plain-info', 'map-info', 'not-there'], 'apple');
            foreach (['shown', 'hidden'] as $name) {
                (new KeySieve\SeenSet($name))->availability();
            }
            $directory = get_cfg_var('keysieve.directory');
            exec(getenv('KEYSIEVE_BIN_DIR') . "/keysieve publish --directory $directory $directory/plain-info.ks");
            chmod("$directory/plain-info/0000000000000002.ks", 0460);
            KeySieve\may_contain('plain-info', 'apple');
            (new ReflectionExtension('keysieve'))->info();
            PHP;
        $output = PhpScript::run($code)->output;
        foreach ([
            '/^Set known-info => ready, .*, 1 key, 5000 known absent, \d+ bytes$/m',
            '~^Set plain-info => missing, publication 1, split_block_bloom, 2 keys, \d+ bytes \(.*/0000000000000002\.ks: not trusted: .*\)$~m',
            '/^Set map-info => ready, .*, 1 key, values of 16 bits, \d+ bytes$/m',
            '/^Set not-there => missing \(.*No such file or directory\)$/m',
            '/^Seen set shown => ready, 2 filters, 8192 bytes$/m',
            '/^Seen set hidden => missing \(.*No such file or directory\)$/m',
        ] as $row) {
            self::assertMatchesRegularExpression($row, $output);
        }
        self::assertStringContainsString('keysieve support => disabled', PhpScript::run($code, ['keysieve.enabled' => 0])->output);
    }

    public function testAKnownAbsentKeyIsAbsentUntilItIsAdded(): void
    {
        SharedMemory::putWithLayer('known-live', range(1, self::KEYS), ['--known-absent', SharedMemory::list('absent', self::keys(5_000, 'absent'))]);
        $set = new Set('known-live');
        self::assertSame([self::KEYS, 5_000], [$set->info()->keyCount, $set->info()->knownAbsentCount]);
        self::assertGreaterThan(4096, $set->info()->shardBytes, 'with a second level');
        $absent = self::keys(5_000, 'absent');
        self::assertSame([], $set->candidates($absent));
        self::assertSame(range(1, self::KEYS), $set->candidates(range(1, self::KEYS)));
        self::assertFalse($set->mayContain('absent 7'));
        self::assertSame(0, $set->info()->addedKeys);
        SharedMemory::addLive('known-live', 'absent 7', 'plum', 'absent 7');
        self::assertSame([2, self::KEYS], [$set->info()->addedKeys, $set->info()->keyCount], 'those of the snapshot stay');
        self::assertTrue($set->mayContain('absent 7'));
        self::assertSame(['absent 7'], array_values($set->candidates($absent)));
        self::assertNull($set->info()->validUntil, 'it was built without a limit');
        SharedMemory::putWithLayer('known-live', ['apple', 'pear', 'plum']);
        self::assertSoon(static fn (): bool => $set->info()->keyCount === 3);
        self::assertSame(0, $set->info()->addedKeys);
    }

    public function testStatsCountCallsAndKeysPerSet(): void
    {
        SharedMemory::put('counted', ['apple', 'pear']);
        SharedMemory::publishWithLayer(SharedMemory::buildMap('counted-map', ['apple' => 3, 'pear' => 4]));
        SharedMemory::addLive('counted-map', 'plum');
        $script = PhpScript::run(<<<'PHP'
            echo json_encode(KeySieve\stats()), "\n";
            $set = new Set('counted');
            new Set('never-asked');
            $set->mayContain('apple');
            $set->mayContain('absent');
            $set->mayContainMany(['apple', 'pear', 'absent', 'absent']);
            $set->candidates([...array_fill(0, 100, 'apple'), 'absent']);
            $set->availability();
            $set->info();
            KeySieve\may_contain('uncounted', 'apple');
            KeySieve\candidate_sets(['counted', 'uncounted'], 'pear');
            $none = fn () => null;
            foreach ([[null, ['apple', 'absent', 'plum']], ['another profile', ['apple']]] as [$profile, $keys]) {
                $map = new KeySieve\Map('counted-map', $profile);
                array_map(fn (string $key) => $map->get($key, $none), $keys);
                $map->getMany([...$keys, 'pear'], fn () => []);
            }
            echo json_encode(KeySieve\stats()), "\n";
            PHP);
        self::assertSame(
            "[]\n"
                . '{"counted":{"calls":5,"maybe":104,"absent":4,"unavailable":0},'
                . '"never-asked":{"calls":0,"maybe":0,"absent":0,"unavailable":0},'
                . '"uncounted":{"calls":2,"maybe":0,"absent":0,"unavailable":2},'
                . '"counted-map":{"calls":6,"maybe":5,"absent":2,"unavailable":3}}' . "\n",
            $script->output,
        );
    }
}
