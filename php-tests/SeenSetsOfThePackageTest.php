<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Reader\Settings;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** What a seen set answers where there is no extension: what the application has chosen. */
final class SeenSetsOfThePackageTest extends TestCase
{
    private const CALLS = <<<'PHP'
        $set = new KeySieve\SeenSet('clicks');
        try {
            echo json_encode([$set->addIfNew('a'), $set->addIfNew('a'), $set->addManyIfNew(['x' => 'a', 7 => 'a']), $set->mayContain('a')]);
        } catch (UnavailableException $exception) {
            echo $exception->getMessage();
        }
        PHP;
    private const MISSING = 'seen set "clicks" is missing (only the extension has seen sets; KEYSIEVE_SEEN_ON_UNAVAILABLE=new or =seen answers without it)';

    /** @return iterable<string, array{array<string, string>, string, string}> the environment, the answers, and what is logged */
    public static function choices(): iterable
    {
        $line = static fn (string $effect): string => 'keysieve: ' . self::MISSING . ": $effect\n";
        yield 'nothing' => [[], self::MISSING, $line('every call throws')];
        yield 'throw' => [['KEYSIEVE_SEEN_ON_UNAVAILABLE' => 'throw'], self::MISSING, $line('every call throws')];
        yield 'new' => [['KEYSIEVE_SEEN_ON_UNAVAILABLE' => 'new'], '[true,true,{"x":true,"7":true},true]', $line('every key is new')];
        yield 'seen' => [['KEYSIEVE_SEEN_ON_UNAVAILABLE' => 'seen'], '[false,false,{"x":false,"7":false},true]', $line('every key is seen')];
        $wrong = "keysieve: KEYSIEVE_SEEN_ON_UNAVAILABLE must be new, seen or throw, not \"maybe\": every call of a seen set throws\n";
        yield 'what it cannot be' => [['KEYSIEVE_SEEN_ON_UNAVAILABLE' => 'maybe'], self::MISSING, $wrong . $line('every call throws')];
    }

    /** @param array<string, string> $environment */
    #[DataProvider('choices')]
    public function testAnswersAsTheEnvironmentSaysAndLogsItOnce(array $environment, string $answers, string $lines): void
    {
        $script = PhpScript::run(self::CALLS, environment: $environment);
        self::assertSame([$answers, $lines], [$script->output, $script->errors]);
    }

    public function testCodeMayChooseToo(): void
    {
        $script = PhpScript::run("KeySieve\\Reader\\Settings::answerSeenSets('seen');" . self::CALLS, environment: ['KEYSIEVE_SEEN_ON_UNAVAILABLE' => 'new']);
        self::assertSame('[false,false,{"x":false,"7":false},true]', $script->output);
        $message = 'on_unavailable of seen sets must be new, seen or throw, not "maybe"';
        self::assertThrows(\InvalidArgumentException::class, $message, static fn () => Settings::answerSeenSets('maybe'));
    }

    public function testKeysieveEnabledLeavesWhatWasChosenButThrowsNothing(): void
    {
        foreach (['throw' => '[true,true,{"x":true,"7":true},true]', 'seen' => '[false,false,{"x":false,"7":false},true]'] as $choice => $answers) {
            $script = PhpScript::run(self::CALLS, ['keysieve.enabled' => 0], environment: ['KEYSIEVE_SEEN_ON_UNAVAILABLE' => $choice]);
            self::assertSame([$answers, ''], [$script->output, $script->errors], $choice);
        }
    }
}
