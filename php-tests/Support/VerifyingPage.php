<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A page of php-fpm that knows which keys of a set must be maybe: TestCase::keys(). */
final class VerifyingPage
{
    /**
     * Says "right", or answers 500 and says what is wrong: a set that is not ready, a key of the set that is absent, or
     * none absent that is strange to it.
     *
     * @param string $added        a file with the number n of keys "added 1" to "added n", which must be maybe as well
     * @param int    $milliseconds for so long it asks again and again
     * @param bool   $mayBeMissing the set may be missing for a moment, if every answer is maybe then
     */
    public static function script(string $set, int $count, string $added = '', int $milliseconds = 0, bool $mayBeMissing = false): string
    {
        $page = <<<'PHP'
            function some(string $name, int $from, int $to): array
            {
                return array_map(static fn (): string => $name . random_int($from, $to), range(1, 10));
            }
            function trouble(KeySieve\Set $set): ?string
            {
                $keys = some('key ', 1, COUNT);
                $added = ADDED === '' ? 0 : (int) file_get_contents(ADDED);
                if ($added > 0) {
                    array_push($keys, ...some('added ', 1, $added), ...some('added ', max(1, $added - 50), $added));
                }
                $state = $set->availability()->name;
                $lost = array_diff($keys, $set->candidates($keys));
                foreach (some('key ', 1, COUNT) as $key) {
                    if (!$set->mayContain($key)) {
                        $lost[] = $key;
                    }
                }
                $strange = [...some('strange ', 1, 1 << 40), ...some('strange ', 1, 1 << 40)];
                return match (true) {
                    $state !== 'Ready' && !(MAY_BE_MISSING && $state === 'Missing') => "is $state",
                    $lost !== [] => 'has lost ' . implode(', ', $lost),
                    $state === 'Ready' && $set->candidates($strange) === $strange && $set->availability()->name === 'Ready'
                        => 'knows everything',
                    default => null,
                };
            }
            $set = new KeySieve\Set(NAME);
            $end = hrtime(true) + MILLISECONDS * 1_000_000;
            do {
                $trouble = trouble($set);
            } while ($trouble === null && hrtime(true) < $end);
            if ($trouble !== null) {
                http_response_code(500);
                error_log(NAME . " $trouble");
            }
            echo $trouble === null ? 'right' : NAME . " $trouble";
            PHP;
        return strtr($page, [
            'COUNT' => (string) $count,
            'ADDED' => var_export($added, true),
            'NAME' => var_export($set, true),
            'MILLISECONDS' => (string) $milliseconds,
            'MAY_BE_MISSING' => var_export($mayBeMissing, true),
        ]);
    }
}
