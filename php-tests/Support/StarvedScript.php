<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** PHP code whose allocations by malloc fail where it says so. PHP's own allocator takes its memory elsewhere. */
final class StarvedScript
{
    private const STARVE = <<<'PHP'
        $faults = fopen(getenv('KEYSIEVE_ALLOCATIONS'), 'r+');
        // What $work returns while its allocation $number (with $lasts, each from that one on) fails; in $made, how many there were.
        $starve = static function (int $number, bool $lasts, callable $work) use ($faults, &$made): mixed {
            $write = static fn (int ...$numbers): bool => rewind($faults) && fwrite($faults, pack('P*', ...$numbers));
            $write(0, $number, $lasts ? -1 : $number);
            try {
                return $work();
            } finally {
                fseek($faults, 8);
                fwrite($faults, pack('P', 0));
                rewind($faults);
                $made = unpack('P', fread($faults, 8))[1];
            }
        };

        PHP;

    public static function run(string $code): Program
    {
        $faults = tempnam(sys_get_temp_dir(), 'keysieve-allocations-');
        try {
            file_put_contents($faults, str_repeat("\0", 4096));
            // By number: glibc 2.36 crashes when it runs out of memory in its first look for a user by name.
            return PhpScript::run(self::STARVE . $code, ['keysieve.owner' => '0'], environment: [
                'LD_PRELOAD' => getenv('KEYSIEVE_BIN_DIR') . '/libfailing_allocations.so',
                'KEYSIEVE_ALLOCATIONS' => $faults,
            ]);
        } finally {
            unlink($faults);
        }
    }
}
