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
    public function testASaveThatLosesADeadlockCanBeRepeated(string $framework): void
    {
        $this->code($framework, 'Tag::create(["name" => "a"]); Tag::create(["name" => "b"]);');
        $other = $this->startCode($framework, <<<'PHP'
            [$a, $b] = Tag::all();
            $try(static fn () => DB::transaction(static function () use ($a, $b, $tell, $await): void {
                DB::table('tags')->where('id', 2)->update(['views' => 1]);
                $tell('b is locked');
                $await('a is locked');
                $a->update(['name' => 'a2']);
            }));
            echo json_encode([$a->isDirty('name'), $a->getOriginal('name')]);
            $a->save();
            PHP);
        $output = $this->code($framework, self::UNTIL_ANOTHER_WAITS . <<<'PHP'
            DB::transaction(static function () use ($tell, $await, $untilAnotherWaits): void {
                foreach (range(1, 9) as $id) { // of the two, MariaDB rolls back the one that has changed less
                    Product::create(['name' => $id]);
                }
                DB::table('tags')->where('id', 1)->update(['views' => 2]);
                $await('b is locked');
                $tell('a is locked');
                $untilAnotherWaits();
                DB::table('tags')->where('id', 2)->update(['views' => 2]);
            });
            PHP);
        self::assertSame(['', 0], [$output, $other->status()]);
        self::assertMatchesRegularExpression('/^Illuminate.Database.DeadlockException: .*\n\[true,"a"\]$/s', $other->output());
        self::assertSame('a2 b', $this->code($framework, 'echo $rows();'));
        self::assertSame(['a', 'b', 'a2'], $this->added('tags'));
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
        self::assertMatchesRegularExpression('/^LogicException: Tag: the database has ended .*\nrows: \nPDOException: There is no active transaction\n$/', $output);
        self::assertSame([], $this->added('tags'));
    }
}
