<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** Models whose keys are added before they are committed, in applications of Laravel. */
#[Group('frameworks')]
final class EloquentTest extends TestCase
{
    private RedisServer $redis;
    private Examples $examples;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket]);
    }

    /** @return iterable<string, array{string}> */
    public static function laravel(): iterable
    {
        foreach (Framework::LARAVEL as $framework) {
            yield $framework => [$framework];
        }
    }

    #[DataProvider('laravel')]
    public function testARowThatIsCommittedIsMaybeOnThisHost(string $framework): void
    {
        $loader = new Loader(['tags'], $this->redis->url);
        $loader->push(SharedMemory::build('tags', ['old']));
        $output = $this->code($framework, <<<'PHP'
            $set = new KeySieve\Set('tags');
            $until = static function (Closure $holds): void {
                for ($deadline = time() + 60; !$holds(); usleep(5_000)) {
                    time() < $deadline || exit('it did not become so');
                }
            };
            $until(static fn (): bool => !$set->mayContain('new'));
            Tag::create(['name' => 'NEW']);
            $until(static fn (): bool => $set->mayContain('new'));
            $app->make(KeySieve\Adds\Adds::class)->add('tags', 'by hand');
            $until(static fn (): bool => $set->mayContain('by hand'));
            echo $rows();
            PHP);
        self::assertSame('NEW', $output, $loader->log());
    }

    #[DataProvider('laravel')]
    public function testAnUpdateAddsOnlyKeysThatAreNew(string $framework): void
    {
        $this->code($framework, <<<'PHP'
            $a = Tag::create(['name' => 'A']);
            $b = Tag::create(['name' => 'b', 'published' => false]);
            $a->update(['views' => 1]);
            $a->increment('views');
            $a->touch();
            $b->update(['published' => true]);
            DB::transaction(static function () use ($a): void {
                $a->update(['views' => 3]);
                $a->update(['name' => 'a2']);
            });
            $a->delete();
            PHP);
        self::assertSame(['a', 'b', 'a2'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testARowThatTheDatabaseRefusesInATransactionIsNotAdded(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            Tag::create(['name' => 'a']);
            $try(static fn () => DB::transaction(static fn () => Tag::create(['name' => 'a'])));
            echo $rows();
            PHP);
        self::assertMatchesRegularExpression('/^Illuminate.*UNIQUE.*\na$/s', $output);
        self::assertSame(['a'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testARollbackLeavesAKeyTooMany(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            DB::beginTransaction();
            Tag::create(['name' => 'a']);
            DB::rollBack();
            Tag::create(['name' => 'b']);
            echo $rows();
            PHP);
        self::assertSame('b', $output);
        self::assertSame(['a', 'b'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testAnIdNeedsATransaction(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            DB::transaction(static fn () => Product::create(['name' => 'Cat food']));
            $try(static fn () => Product::create(['name' => 'Calendar']));
            PHP);
        self::assertSame("LogicException: Product: keys were known only after the row was there: save it in a transaction\n", $output);
        self::assertSame(['1', '2'], $this->added('products'), 'the row is there, so its key must be');
    }

    /** @return iterable<string, array{string, string}> */
    public static function writes(): iterable
    {
        foreach (Framework::LARAVEL as $framework) {
            yield $framework => [$framework, 'Tag::create(["name" => "a"])'];
            yield "$framework, in a transaction" => [$framework, 'DB::transaction(static fn () => Tag::create(["name" => "a"]))'];
        }
    }

    #[DataProvider('writes')]
    public function testAStoreThatIsAwayLeavesNoRow(string $framework, string $write): void
    {
        $this->redis->stop();
        $output = $this->code($framework, "\$try(static fn () => $write); echo 'rows: ', \$rows();");
        self::assertMatchesRegularExpression('/^KeySieve.Adds.AddException: keysieve:tags:adds: .*\nrows: $/s', $output);
    }

    #[DataProvider('writes')]
    public function testAQueueKeepsWhatTheStoreDoesNotTake(string $framework, string $write): void
    {
        $this->redis->command('SET', 'shop:tags:adds', 'is no log');
        $output = $this->code($framework, "\$try(static fn () => $write);" . <<<'PHP'
            echo $rows(), DB::table('jobs')->count(), "\n";
            DB::beginTransaction();
            Tag::create(['name' => 'rolled back']);
            DB::rollBack();
            $work = static function () use ($app): void {
                $options = new Illuminate\Queue\WorkerOptions(sleep: 0, maxTries: 1);
                $app->make('queue.worker')->runNextJob('database', 'default', $options);
                echo DB::table('jobs')->count(), ' ', DB::table('jobs')->value('attempts'), "\n";
                DB::table('jobs')->update(['available_at' => 0]); // its pause is over
            };
            $work();
            $work();
            exec('redis-cli -s "$EXAMPLES_REDIS" DEL shop:tags:adds');
            $work();
            PHP, ['prefix' => 'shop', 'queue' => 'database']);
        self::assertSame("a1\n1 1\n1 2\n0 \n", $output);
        self::assertSame(['a'], $this->added('tags', 'shop'));
    }

    #[DataProvider('laravel')]
    public function testAQueueThatIsNoneLeavesNoRow(string $framework): void
    {
        $this->redis->stop();
        $output = $this->code($framework, '$try(static fn () => Tag::create(["name" => "a"])); echo "rows: ", $rows();', ['queue' => 'sync']);
        self::assertMatchesRegularExpression('/^KeySieve.Adds.AddException: .*\nrows: $/s', $output);
    }

    /** @return string[] */
    private function added(string $set, string $prefix = 'keysieve'): array
    {
        preg_match_all('/^key\n(.*)$/m', $this->redis->command('XRANGE', "$prefix:$set:adds", '-', '+'), $added);
        return $added[1];
    }

    /** @param array<string, string> $settings */
    private function code(string $framework, string $code, array $settings = []): string
    {
        $constants = [
            'FRAMEWORK' => $framework,
            'AUTOLOADER' => Framework::autoloader($framework),
            'TEMPORARY' => (string) $this->examples->folder,
            'SETTINGS' => $settings + ['redis' => 'default'],
        ];
        $given = '';
        foreach ($constants as $name => $value) {
            $given .= "const $name = " . var_export($value, true) . ";\n";
        }
        return $this->examples->code("{$given}require FOLDER . '/../php-tests/Support/eloquent.php';\n$code");
    }
}
