<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\MariaDbServer;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** The same with MariaDB, and what needs its locks. */
#[Group('frameworks')]
final class EloquentMariaDbTest extends EloquentTest
{
    private const UNTIL_ANOTHER_WAITS = <<<'PHP'
        $untilAnotherWaits = static function (): void {
            $waiting = "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Innodb_row_lock_current_waits'";
            for ($deadline = time() + 200; DB::scalar($waiting) < 1; usleep(1_000)) {
                time() < $deadline || exit('no other process waits');
            }
        };

        PHP;

    public static function setUpBeforeClass(): void
    {
        self::$mariaDb = new MariaDbServer();
    }

    public static function tearDownAfterClass(): void
    {
        self::$mariaDb = null;
    }

    #[DataProvider('laravel')]
    public function testAnUpdateWaitsForAnotherProcessAndComparesWithItsRow(string $framework): void
    {
        $this->code($framework, <<<'PHP'
            Tag::create(['name' => 'a']);
            Tag::create(['name' => 'b', 'published' => false]);
            Tag::create(['name' => 'c']);
            PHP);
        $other = $this->startCode($framework, <<<'PHP'
            DB::transaction(static function () use ($tell, $await): void {
                [$a, $b, $c] = Tag::all(); // the transaction reads these versions from now on, unless it locks
                $tell('read');
                $await('changed');
                $a->update(['published' => 2]);
                $b->update(['published' => true]);
                Tag::withoutTimestamps(static fn () => $c->update(['views' => 1])); // which the row has, so nothing is written
            });
            PHP);
        $output = $this->code($framework, self::UNTIL_ANOTHER_WAITS . <<<'PHP'
            $await('read');
            DB::transaction(static function () use ($tell, $untilAnotherWaits): void {
                DB::table('tags')->where('name', 'a')->update(['published' => 0]);
                DB::table('tags')->where('name', 'b')->update(['name' => 'B2']);
                exec('redis-cli -s "$EXAMPLES_REDIS" DEL keysieve:tags:adds'); // as after a build that reads what this commits
                Tag::withoutTimestamps(static fn () => Tag::find(3)->update(['name' => 'c2', 'views' => 1]));
                $tell('changed');
                $untilAnotherWaits();
            });
            PHP);
        self::assertSame(['', 0, ''], [$output, $other->status(), $other->output()]);
        self::assertSame('a B2 c2', $this->code($framework, 'echo $rows();'));
        self::assertSame(['c2', 'a', 'b2'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testAnIncrementThatLosesADeadlockCanBeRepeated(string $framework): void
    {
        $this->code($framework, 'Tag::create(["name" => "a"]);');
        $other = $this->startCode($framework, <<<'PHP'
            $tag = Tag::first();
            $await('b is taken');
            $increment = static fn () => $tag->increment('views', 1, ['name' => 'b']);
            $try($increment);
            echo json_encode([$tag->views, $tag->name]);
            $await('b is free');
            $increment();
            PHP);
        $output = $this->code($framework, self::UNTIL_ANOTHER_WAITS . <<<'PHP'
            DB::transaction(static function () use ($tell, $untilAnotherWaits): void {
                for ($id = 1; $id < 9; ++$id) { // of the two, MariaDB rolls back the one that has changed less
                    Product::create(['name' => $id]);
                }
                DB::table('tags')->insert(['name' => 'b']);
                $tell('b is taken');
                $untilAnotherWaits(); // it has the row, and wants the name
                DB::table('tags')->where('name', 'a')->update(['views' => 2]);
                DB::table('tags')->where('name', 'b')->delete();
            });
            $tell('b is free');
            PHP);
        self::assertSame(['', 0], [$output, $other->status()], $other->output());
        self::assertMatchesRegularExpression('/^Illuminate.*QueryException: .*Deadlock found.*\n\[0,"a"\]$/s', $other->output());
        self::assertSame('b 3', $this->code($framework, 'echo $rows(), " ", Tag::value("views");'));
        self::assertSame(['a', 'b'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testATransactionThatTheDatabaseHasEndedWritesNoRow(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            $try(static fn () => DB::transaction(static function () use ($try, $rows): void {
                DB::statement('CREATE TABLE other (id INT)'); // commits
                $try(static fn () => Tag::create(['name' => 'a']));
                echo 'rows: ', $rows(), "\n";
            }));
            PHP);
        self::assertMatchesRegularExpression('/^LogicException: The database has ended .*\nrows: \nPDOException: There is no active transaction\n$/', $output);
        self::assertSame([], $this->added('tags'));
    }

    /** As by a deadlock. PDO does not know before the next answer. */
    #[DataProvider('laravel')]
    public function testATransactionThatAnErrorHasEndedWritesNoRow(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            $try(static fn () => DB::transaction(static function () use ($try): void {
                $try(static fn () => DB::unprepared("BEGIN NOT ATOMIC ROLLBACK; SIGNAL SQLSTATE '40001'; END"));
                exec('redis-cli -s "$EXAMPLES_REDIS" SET keysieve:tags:adds "no log"'); // so a row that is written stays without its key
                Tag::create(['name' => 'a']);
            }));
            echo 'rows: ', $rows();
            PHP);
        self::assertMatchesRegularExpression('/^Illuminate.*40001.*\nLogicException: The database has ended .*\nrows: $/s', $output);
    }
}
