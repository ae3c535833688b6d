<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Tests\Support\Program;

/** What the programs say of themselves. */
final class Help
{
    /** @return string[] */
    public static function verbs(): array
    {
        preg_match('/^Subcommands:\n(.*?)\n\n/ms', self::of('keysieve'), $found);
        preg_match_all('/^  (\S+)/m', $found[1], $verbs);
        return $verbs[1];
    }

    /** @return string[] of "keysieve VERB" or of "keysieved", short ones too */
    public static function options(string ...$command): array
    {
        [$help] = explode("\nExamples:", self::of(...$command));
        preg_match_all('/^  (-\S*)/m', $help, $found);
        return explode(',', implode(',', $found[1]));
    }

    private static function of(string $program, string ...$verb): string
    {
        static $known = [];
        $command = [getenv('KEYSIEVE_BIN_DIR') . "/$program", ...$verb, '--help'];
        return $known[implode(' ', $command)] ??= Program::output($command);
    }
}
