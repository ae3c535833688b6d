<?php

// The survey of the family, replayed: every kind at five rates, as the formulas have it, as keysieve plans it, and measured.
// php family.php BIN FOLDER KEYS

declare(strict_types=1);

require __DIR__ . '/../bench.php';

[, $bin, $folder, $count] = $argv;
const OTHERS = 20_000_000;
const RATES = ['0.1', '0.01', '0.001', '0.0001', '0.00001'];

/** Bits per key by the formula of each structure as one piece, without shards. */
function formula(string $kind, float $fpr): ?float
{
    $log = -log($fpr, 2);
    return match ($kind) {
        'bloom', 'partitioned_bloom' => $log / log(2),
        'cuckoo' => ($log + 3) / 0.95, // buckets of four
        'binary_fuse' => 1.125 * $log, // three-wise
        'ribbon' => 1.01 * $log,
        'xor' => 1.23 * $log,
        default => null,
    };
}

function percent(float $share): string
{
    return three_digits(100 * $share) . ' %';
}

foreach (['keys' => ['key', $count], 'absent' => ['other', OTHERS]] as $file => [$prefix, $lines]) {
    shell("seq -f '$prefix %.0f' $lines >" . escapeshellarg("$folder/$file"));
}
$kinds = array_column(json_decode(run($bin, 'plan', '--keys', '1', '--all', '--json'), true)['kinds'], 'kind');
sort($kinds);
$rows = [['bound, −log₂ of the rate', ...array_map(static fn (string $fpr): string => three_digits(-log((float) $fpr, 2)), RATES)]];
$rates = $lines = [];
foreach ($kinds as $kind) {
    [$bits, $measured] = [[], []];
    foreach (RATES as $fpr) {
        $built = json_decode(run($bin, 'build', '--set', 'family', '--kind', $kind, '--fpr', $fpr, "$folder/keys", '-o', "$folder/family.ks", '--json'), true);
        $checked = json_decode(run($bin, 'verify', "$folder/family.ks", '--keys', "$folder/keys", '--absent', "$folder/absent", '--json'), true);
        $checked['false_negatives'] === 0 || throw new RuntimeException("$kind has lost keys");
        $bits_per_key = 8 * $built['bytes'] / $count;
        $formula = formula($kind, (float) $fpr);
        $bits[] = three_digits($bits_per_key) . ($formula === null ? '' : ' (' . three_digits($formula) . ')');
        $measured[] = percent($checked['measured_fpr']);
        $lines[$kind][] = [(float) $fpr, rounded($bits_per_key)];
    }
    $rows[] = [$kind, ...$bits];
    $rates[] = [$kind, ...$measured];
}
$columns = array_map(static fn (string $fpr): string => 100 * (float) $fpr . ' %', RATES);
print_part([], [
    table("Bits per key of whole snapshots, " . number_format((int) $count) . " keys; in brackets the formula of the structure in one piece", ['kind', ...$columns], $rows),
    table('Measured rate, of 20,000,000 other keys; no key was ever absent', ['kind', ...$columns], $rates),
], [lines('family', 'Bits per key of every kind', ['target FPR', 'log'], ['bits per key', 'linear'], $lines)]);
