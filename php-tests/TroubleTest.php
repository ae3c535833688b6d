<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Set;
use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;

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
            static fn (string $page) => self::changeAbi($page, 1),
        ];
    }

    /**
     * @dataProvider refusedControlPages
     *
     * @param callable(string): mixed $spoil
     * @param callable(string): mixed $repair
     */
    public function testARefusedControlPage(callable $spoil, string $state, string $reason, callable $repair): void
    {
        self::assertSame(0, posix_geteuid(), 'only root can give a file away');
        $name = 'control-' . strtolower($this->dataName());
        SharedMemory::put($name, ['apple']);
        $clock = new Clock();
        $pool = new FpmPool(self::PAGE, ['pages' => ['pm.max_children' => '1']], clock: $clock);
        self::assertSame([[true, false], 'Ready', 1, null], self::ask($pool, $name));
        $control = SharedMemory::folder($name) . '/control';
        copy($control, "$control.new");
        $spoil("$control.new");
        rename("$control.new", $control);

        [$answers, $availability, $publication, $trouble] = self::ask($pool, $name);
        self::assertSame([[true, true], $state, 1], [$answers, $availability, $publication]);
        self::assertStringContainsString($reason, $trouble);
        self::assertSame(1, self::linesOf($pool, "set \"$name\" is " . strtolower($state) . ' (' . $trouble));

        $repair($control);
        $clock->advance(2); // longer than the pause between two tries
        self::assertSame([[true, false], 'Ready', 1, null], self::ask($pool, $name));
        self::assertSame(1, self::linesOf($pool, "set \"$name\" is ready again"));
        self::assertSame(2, self::linesOf($pool, $name));
    }

    public function testAPublicationThatCannotBeAttachedWhileTheOneBeforeAnswers(): void
    {
        SharedMemory::put('kept', ['apple']);
        $clock = new Clock();
        $pool = new FpmPool(self::PAGE, ['pages' => ['pm.max_children' => '1']], clock: $clock);
        self::assertSame([[true, false], 'Ready', 1, null], self::ask($pool, 'kept'));
        SharedMemory::put('kept', ['apple', 'pear']);
        chmod(SharedMemory::folder('kept') . '/0000000000000002.ks', 0460);
        $clock->advance(3_600); // longer than the jitter of a reader, since that publication, which another clock dates
        for ($round = 0; $round < 3; ++$round) {
            [$answers, $availability, $publication, $trouble] = self::ask($pool, 'kept');
            self::assertSame([[true, false], 'Ready', 1], [$answers, $availability, $publication]);
            self::assertStringContainsString('0000000000000002.ks: not trusted', $trouble);
            self::assertSame(1, self::linesOf($pool, "set \"kept\" keeps its old publication: $trouble"));
        }
        chmod(SharedMemory::folder('kept') . '/0000000000000002.ks', 0440);
        $clock->advance(2); // longer than the pause between two tries
        self::assertSame([[true, true], 'Ready', 2, null], self::ask($pool, 'kept'));
        self::assertSame(1, self::linesOf($pool, 'set "kept" is up to date again'));
        self::assertSame(2, self::linesOf($pool, 'set "kept"'));
    }

    public function testIsLoggedBeforeARequestWithoutEndEnds(): void
    {
        SharedMemory::put('unending', ['apple']);
        $clock = new Clock();
        $log = SharedMemory::directory() . '/unending.log';
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('unending');
            $set->mayContain('apple');
            $directory = ini_get('keysieve.directory');
            exec(getenv('KEYSIEVE_BIN_DIR') . "/keysieve publish --directory $directory $directory/unending.ks");
            chmod("$directory/unending/0000000000000002.ks", 0460);
            file_put_contents(getenv('FAKETIME_TIMESTAMP_FILE'), (string) (time() + 2)); // longer than the jitter
            for ($call = 0; $call < 10_000; ++$call) {
                $set->mayContain('pear');
            }
            echo substr_count(file_get_contents(ini_get('error_log')), 'set "unending" keeps its old publication: '), "\n";
            (new ReflectionExtension('keysieve'))->info();
            PHP, ['error_log' => $log], environment: $clock->environment());
        self::assertStringStartsWith("1\n", $script->output);
        self::assertMatchesRegularExpression(
            '~^Set unending => ready, publication 1, .* bytes \(.*/0000000000000002\.ks: not trusted: .*\)$~m',
            $script->output,
        );
    }

    private static function ask(FpmPool $pool, string $set): array
    {
        return json_decode($pool->request($set)->body(), true, flags: JSON_THROW_ON_ERROR);
    }

    private static function linesOf(FpmPool $pool, string $text): int
    {
        $lines = explode("\n", file_get_contents($pool->log));
        return count(array_filter($lines, static fn (string $line): bool => str_contains($line, $text)));
    }

    private static function changeAbi(string $page, int $major): void
    {
        $bytes = file_get_contents($page);
        $header = substr_replace(substr($bytes, 0, 24), pack('v', $major), 12, 2);
        file_put_contents($page, $header . strrev(hash('xxh3', $header, true)) . substr($bytes, 32));
    }
}
