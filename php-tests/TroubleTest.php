<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Set;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** What a running worker cannot use shows at once: in its log, in availability() and in info(). */
final class TroubleTest extends TestCase
{
    private const FOREIGN_OWNER = 54321;

    private const PAGE = <<<'PHP'
        $set = new KeySieve\Set($_SERVER['QUERY_STRING']);
        $answers = $set->mayContainMany(['apple', 'pear']);
        $info = $set->info();
        echo json_encode([$answers, $set->availability()->name, $info->publication, $info->trouble]);
        PHP;

    private string $set;
    private Clock $clock;
    private FpmPool $pool;

    protected function tearDown(): void
    {
        unset($this->pool, $this->clock);
    }

    /** @return iterable<string, array{callable(string): mixed, string, string, callable(string): mixed}> */
    public static function refusedControlPages(): iterable
    {
        yield 'owner' => [
            static fn (string $page) => chown($page, self::FOREIGN_OWNER),
            'Missing',
            '/control: not trusted: it belongs to uid ' . self::FOREIGN_OWNER . ', the folder to uid 0',
            static fn (string $page) => chown($page, 0),
        ];
        yield 'permissions' => [
            static fn (string $page) => chmod($page, 0660),
            'Missing',
            '/control: not trusted: its group or others may write to it',
            static fn (string $page) => chmod($page, 0640),
        ];
        yield 'ABI' => [
            static fn (string $page) => self::changeAbi($page, 9),
            'Incompatible',
            '/control: control page of ABI 9',
            static fn (string $page) => self::changeAbi($page, 2),
        ];
    }

    /**
     * @param callable(string): mixed $spoil
     * @param callable(string): mixed $repair
     */
    #[DataProvider('refusedControlPages')]
    #[Group('unsanitized')]
    public function testARefusedControlPageMeansMaybe(callable $spoil, string $state, string $reason, callable $repair): void
    {
        self::needsRoot();
        $name = 'control-' . strtolower($this->dataName());
        $this->serve($name);
        $control = SharedMemory::folder($name) . '/control';
        copy($control, "$control.new");
        $spoil("$control.new");
        rename("$control.new", $control);

        $trouble = $this->askInTrouble([[true, true], $state, 1], $reason);
        $this->assertLogged(1, "set \"$name\" is " . strtolower($state) . ' (' . $trouble);
        $repair($control);
        $this->clock->advance(2); // longer than the pause between two tries
        self::assertSame([[true, false], 'Ready', 1, null], $this->ask());
        $this->assertLogged(1, "set \"$name\" is ready again");
        $this->assertLogged(2, $name);
    }

    #[Group('unsanitized')]
    public function testAPublicationThatIsRefusedMeansMaybe(): void
    {
        $this->serve('refused');
        SharedMemory::put('refused', ['plum']);
        $refused = SharedMemory::folder('refused') . '/0000000000000002.ks';
        chmod($refused, 0460);
        for ($round = 0; $round < 3; ++$round) {
            $trouble = $this->askInTrouble([[true, true], 'Missing', 1], '0000000000000002.ks: not trusted');
            $this->assertLogged(1, "set \"refused\" is missing ($trouble)");
        }
        chmod($refused, 0440);
        $this->clock->advance(2); // longer than the pause between two tries
        self::assertSame([[false, false], 'Ready', 2, null], $this->ask());
        $this->assertLogged(1, 'set "refused" is ready again');
        $this->assertLogged(2, 'set "refused"');
    }

    public function testTroubleIsLoggedWhileARequestGoesOn(): void
    {
        SharedMemory::put('unending', ['apple']);
        $log = SharedMemory::directory() . '/unending.log';
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('unending');
            $set->mayContain('apple');
            $directory = get_cfg_var('keysieve.directory');
            exec(getenv('KEYSIEVE_BIN_DIR') . "/keysieve publish --directory $directory $directory/unending.ks");
            chmod("$directory/unending/0000000000000002.ks", 0460);
            $set->mayContain('pear');
            $set->mayContain('pear');
            echo substr_count(file_get_contents(ini_get('error_log')), 'set "unending" is missing ('), "\n";
            (new ReflectionExtension('keysieve'))->info();
            PHP, ['error_log' => $log]);
        self::assertStringStartsWith("1\n", $script->output);
        self::assertMatchesRegularExpression(
            '~^Set unending => missing, publication 1, split_block_bloom, 1 key, \d+ bytes \(.*/0000000000000002\.ks: not trusted: .*\)$~m',
            $script->output,
        );
    }

    /** Publishes a set and starts one worker that has it attached. */
    private function serve(string $set): void
    {
        SharedMemory::put($set, ['apple']);
        $this->set = $set;
        $this->clock = new Clock();
        $this->pool = new FpmPool(self::PAGE, ['pages' => ['pm.max_children' => '1']], clock: $this->clock);
        self::assertSame([[true, false], 'Ready', 1, null], $this->ask());
    }

    /** @return array{bool[], string, int, ?string} answers, availability, publication, trouble */
    private function ask(): array
    {
        return json_decode($this->pool->request($this->set)->body(), true, flags: JSON_THROW_ON_ERROR);
    }

    /** @return string the trouble */
    private function askInTrouble(array $expected, string $reason): string
    {
        $said = $this->ask();
        $trouble = array_pop($said);
        self::assertSame($expected, $said);
        self::assertStringContainsString($reason, $trouble);
        return $trouble;
    }

    private function assertLogged(int $times, string $text): void
    {
        $lines = array_filter(file($this->pool->log), static fn (string $line): bool => str_contains($line, $text));
        self::assertCount($times, $lines, $text);
    }

    private static function changeAbi(string $page, int $major): void
    {
        $bytes = file_get_contents($page);
        $header = substr_replace(substr($bytes, 0, 24), pack('v', $major), 12, 2);
        file_put_contents($page, $header . strrev(hash('xxh3', $header, true)) . substr($bytes, 32));
    }
}
