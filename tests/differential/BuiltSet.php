<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;

/** A random list of keys, and the snapshot that `keysieve build` made of it. The same seed makes the same answers. */
final readonly class BuiltSet
{
    /**
     * @param list<string> $keys
     * @param list<string> $absent known-absent keys that are not among the keys
     */
    private function __construct(public string $bytes, public array $keys, public array $absent, public string $description)
    {
    }

    /**
     * @param list<string> $kinds  of filters
     * @param string       $folder for files
     */
    public static function draw(Random $random, array $kinds, string $folder): self
    {
        $arguments = new Arguments($random);
        $keys = $arguments->keys($random->size($random->chance(0.03) ? 60_000 : 4_000));
        $absent = $random->chance(0.4) ? $arguments->keys(1 + $random->size(2_000)) : [];
        $kind = $random->of($kinds);
        $size = $random->of($absent === [] ? [1, 2, 4, 8] : [1, 2, 4]) . 'KiB'; // 8 KiB leave no room for a second level
        $lowest = (int) (-1_000 * log10(self::lowestFpr($kind, $size)));
        $fpr = sprintf('%.10f', 10 ** (-$random->between(302, $lowest) / 1_000));
        $options = ['-0', '--min-keys', '0', '--kind', $kind, '--fpr', $fpr, '--shard-size', $size];
        if ($random->chance(0.3)) {
            array_push($options, '--growth', (string) (1 + $random->size(5)));
        }
        if ($random->chance(0.3)) {
            array_push($options, '--key-profile', $random->of(['raw', 'lower-case', 'Straße']));
        }
        $isSigned = $random->chance(0.2);
        if ($isSigned) {
            file_put_contents("$folder/sign.key", 'keysieve-secret-key:' . str_repeat('7', 64) . "\n");
            chmod("$folder/sign.key", 0600);
            array_push($options, '--sign-key', "$folder/sign.key");
        }
        $seeded = new SnapshotBytes(file_get_contents(dirname(__DIR__) . '/golden/bloom.ks'));
        $files = [
            '--like' => $seeded->put('seed', $random->bytes(16))->sealHeader()->bytes,
            '--known-absent' => implode("\0", $absent) . "\0",
            '' => $keys === [] ? '' : implode("\0", $keys) . "\0",
        ];
        if ($absent === []) {
            unset($files['--known-absent']);
        }
        static $kindsOfMaps = [];
        $kindsOfMaps = $kindsOfMaps ?: SharedMemory::kinds('--values', '1');
        $bits = in_array($kind, $kindsOfMaps, true) && $random->chance(0.5) ? $random->between(1, 32) : 0;
        if ($bits !== 0) {
            $keys = array_values(array_filter($keys, static fn (string $key): bool => $key !== '' && !str_contains($key, "\t")));
            $value = static fn (string $key): int => crc32($key) & (1 << $bits) - 1;
            unset($files['']);
            $files['--values'] = implode('', array_map(static fn (string $key): string => "$key\t{$value($key)}\0", $keys));
        }
        foreach ($files as $option => $contents) {
            file_put_contents("$folder/list$option", $contents);
            array_push($options, ...array_filter([$option]), ...["$folder/list$option"]);
        }
        Program::keysieve('build', '--set', 'built', '-o', "$folder/built.ks", ...$options);
        $description = ($bits === 0 ? '' : "$bits bits for each of ") . count($keys) . ' keys, ' . count($absent) . " known-absent ones, $kind, FPR $fpr, shards of $size" . ($isSigned ? ', signed' : '');
        return new self(file_get_contents("$folder/built.ks"), $keys, array_values(array_diff($absent, $keys)), $description);
    }

    /** The lowest target that `keysieve build` takes. */
    private static function lowestFpr(string $kind, string $size): float
    {
        static $tooHigh = [];
        $tooHigh[$size] ??= array_column(
            json_decode(Program::keysieve('plan', '--keys', '1', '--fpr', '1e-9', '--shard-size', $size, '--all', '--json'), true)['too_high'],
            'lowest_fpr',
            'kind',
        );
        return $tooHigh[$size][$kind] ?? 1e-9;
    }
}
