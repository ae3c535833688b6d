<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\MariaDbServer;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** Models whose keys are added before they are committed, in applications of Laravel with SQLite. */
#[Group('frameworks')]
class EloquentTest extends TestCase
{
    protected static ?MariaDbServer $mariaDb = null;
    private RedisServer $redis;
    private Examples $examples;

    protected function setUp(): void
    {
        self::$mariaDb?->clear();
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket], self::$mariaDb === null ? [] : MariaDbServer::MODULES);
    }

    /** @return iterable<string, array{string}> */
    public static function laravel(): iterable
    {
        foreach (Framework::laravel() as $framework) {
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
                    time() < $deadline || exit('timed out');
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
            $a = Tag::create(['name' => 'A'])->refresh();
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
    public function testKeysAreThoseOfTheRowAsItIsInTheDatabase(string $framework): void
    {
        $this->code($framework, <<<'PHP'
            DB::table('tags')->insert([['name' => 'a', 'published' => false], ['name' => 'b', 'published' => false]]);
            Tag::select('id', 'published')->first()->update(['published' => true]);
            $stale = Tag::firstWhere('name', 'b');
            Tag::firstWhere('name', 'b')->update(['name' => 'B2']);
            $stale->update(['published' => true]);
            $stale->increment('views', 1, ['name' => 'b3']);
            $stale->id = 7;
            $stale->updateQuietly(['name' => 'b4']);
            PHP);
        self::assertSame(['a', 'b2', 'b3', 'b4'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testAnUpdateIsComparedWithTheRowAndNotWithTheModel(string $framework): void
    {
        $this->code($framework, <<<'PHP'
            $a = Tag::create(['name' => 'a', 'published' => 0])->refresh();
            DB::beginTransaction();
            $a->update(['published' => 1]);
            DB::rollBack();
            $b = Tag::create(['name' => 'b'])->refresh();
            Tag::find($b->id)->update(['published' => 0]);
            exec('redis-cli -s "$EXAMPLES_REDIS" DEL keysieve:tags:adds'); // as after a build
            $a->update(['published' => 2]);
            $b->update(['published' => 2]);
            PHP);
        self::assertSame(['a', 'b'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testAPivotHasAllRowsOfItsPair(string $framework): void
    {
        $this->code($framework, <<<'PHP'
            $product = Product::create(['name' => 'Cat food']);
            $tag = Tag::withoutEvents(static fn () => Tag::create(['name' => 'a', 'published' => false]));
            $product->tags()->attach($tag, ['role' => 'x']);
            $product->tags()->attach($tag, ['role' => 'y']);
            PHP);
        self::assertSame(['x', 'y'], array_values(array_unique($this->added('roles'))));
    }

    #[DataProvider('laravel')]
    public function testAModelMayBeIdentifiedByMoreColumns(string $framework): void
    {
        $this->code($framework, <<<'PHP'
            TenantTag::create(['id' => 1, 'tenant' => 1, 'name' => 'one']);
            TenantTag::create(['id' => 1, 'tenant' => 2, 'name' => 'two']);
            TenantTag::firstWhere('tenant', 2)->update(['name' => 'three']);
            PHP);
        self::assertSame(['one', 'two', 'three'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testAModelWithoutAPrimaryKeyIsNotWritten(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            DB::table('tags')->insert(['name' => 'a']);
            $tag = new class extends Tag {
                protected $table = 'tags';
                protected $primaryKey = null;
                public $incrementing = false;
            };
            $try(static fn () => $tag->fill(['name' => 'b'])->save());
            echo $rows();
            PHP);
        self::assertMatchesRegularExpression('/^LogicException: .* has no primary key.*\na$/s', $output);
        self::assertSame([], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testACollectionIsNoKey(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            $tag = new class extends Tag {
                protected $table = 'tags';
                public function keysInSets(): array
                {
                    return ['tags' => collect([$this->name])];
                }
            };
            $try(static fn () => $tag->fill(['name' => 'a'])->save());
            echo $rows();
            PHP);
        self::assertMatchesRegularExpression('/^TypeError: .*keysInSets\(\) must return .* Illuminate.Support.Collection given\n$/', $output);
        self::assertSame([], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testARestoredRowIsAddedAgain(string $framework): void
    {
        $this->code($framework, <<<'PHP'
            SoftTag::create(['name' => 'a'])->delete();
            exec('redis-cli -s "$EXAMPLES_REDIS" DEL keysieve:tags:adds'); // as after a build that leaves it out
            SoftTag::withTrashed()->first()->restore();
            PHP);
        self::assertSame(['a'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testListenersPreventNothing(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            Tag::creating(static fn (Tag $tag): string => $tag->name = "$tag->name!");
            Tag::created(static fn (): bool => false);
            Tag::updating(static fn (Tag $tag): string => $tag->name = "$tag->name?");
            Tag::updated(static fn (): bool => false);
            Tag::create(['name' => 'a'])->update(['views' => 1]);
            DB::transaction(static fn () => Tag::create(['name' => 'b']));
            SoftTag::created(static function (SoftTag $tag): void {
                $tag->views = 1;
                $tag->save();
            });
            SoftTag::create(['name' => 'c']);
            Tag::withoutEvents(static fn () => Tag::create(['name' => 'd']));
            echo $rows();
            PHP);
        self::assertSame('a!? b! c d', $output);
        self::assertSame(['a!', 'a!?', 'b!', 'c', 'd'], array_values(array_unique($this->added('tags'))));
    }

    #[DataProvider('laravel')]
    public function testAModelIsInSetsAndAddsKeysOrNeither(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            $try(static fn () => new class extends Illuminate\Database\Eloquent\Model implements KeySieve\Adds\InSets {
                public function keysInSets(): array
                {
                    return [];
                }
            });
            $try(static fn () => new class extends Illuminate\Database\Eloquent\Model {
                use KeySieve\Laravel\AddsKeys;
            });
            PHP);
        self::assertSame(2, substr_count($output, "must implement InSets and use AddsKeys: one alone adds no keys\n"), $output);
    }

    #[DataProvider('laravel')]
    public function testARowThatTheDatabaseRefusesIsNotAdded(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            Tag::create(['name' => 'a']);
            $again = new Tag(['name' => 'a']);
            $try(static fn () => $again->save());
            echo $rows();
            Tag::destroy(1);
            exec('redis-cli -s "$EXAMPLES_REDIS" RENAME keysieve:tags:adds first');
            $again->save();
            PHP);
        self::assertMatchesRegularExpression('/^Illuminate.*UniqueConstraintViolationException: .*\na$/s', $output);
        self::assertStringEndsWith("\nkey\na", $this->redis->command('XRANGE', 'first', '-', '+'));
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

    /** @return iterable<string, array{string, string}> */
    public static function writes(): iterable
    {
        foreach (Framework::laravel() as $framework) {
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

    #[DataProvider('laravel')]
    public function testAFailedSaveCanBeRepeated(string $framework): void
    {
        $this->redis->command('SET', 'keysieve:products:adds', 'is no log');
        $output = $this->code($framework, <<<'PHP'
            $product = new Product(['name' => 'Cat food']);
            DB::transaction(static fn () => $try(static fn () => $product->save()));
            echo DB::table('products')->count(), json_encode([$product->exists, $product->id]);
            exec('redis-cli -s "$EXAMPLES_REDIS" DEL keysieve:products:adds');
            $product->save();
            echo json_encode(DB::table('products')->pluck('id'));
            PHP);
        self::assertMatchesRegularExpression('/^KeySieve.Adds.AddException: .*\n0\[false,null\]\[\d\]$/s', $output);
        self::assertSame([substr($output, -2, 1)], $this->added('products'));
    }

    #[DataProvider('laravel')]
    public function testAFailedIncrementCanBeRepeated(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            $tag = Tag::withoutEvents(static fn () => Tag::create(['name' => 'a', 'published' => 0])->refresh());
            exec('redis-cli -s "$EXAMPLES_REDIS" SET keysieve:tags:adds "is no log"');
            $try(static fn () => $tag->increment('views', 1, ['published' => 1]));
            echo json_encode([$tag->views, $tag->published, $tag->isDirty()]);
            exec('redis-cli -s "$EXAMPLES_REDIS" DEL keysieve:tags:adds');
            $tag->increment('views', 1, ['published' => 1]);
            echo DB::table('tags')->value('views'), $tag->views;
            PHP);
        self::assertMatchesRegularExpression('/^KeySieve.Adds.AddException: .*\n\[0,0,false\]11$/s', $output);
        self::assertSame(['a'], $this->added('tags'));
    }

    #[DataProvider('laravel')]
    public function testARowThatWasCommittedExistsThoughACallbackThrows(string $framework): void
    {
        $output = $this->code($framework, <<<'PHP'
            Tag::created(static fn () => DB::afterCommit(static fn () => throw new Exception('away')));
            $tag = new Tag(['name' => 'a']);
            $try(static fn () => $tag->save());
            echo json_encode([$tag->exists, $tag->id]), $rows();
            PHP);
        self::assertSame("Exception: away\n[true,1]a", $output);
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
    public function testAQueueThatKeepsNothingLeavesNoRow(string $framework): void
    {
        $this->redis->stop();
        $output = $this->code($framework, '$try(static fn () => Tag::create(["name" => "a"])); echo "rows: ", $rows();', ['queue' => 'sync']);
        self::assertMatchesRegularExpression('/^KeySieve.Adds.AddException: .*\nrows: $/s', $output);
    }

    #[DataProvider('laravel')]
    public function testAWriterThatMeetsAnotherCanRepeatItsSave(string $framework): void
    {
        $isSqlite = self::$mariaDb === null;
        $this->code($framework, 'Tag::create(["name" => "a"]); Tag::create(["name" => "b"]);');
        if ($isSqlite) {
            $this->code($framework, 'DB::statement("PRAGMA journal_mode = WAL");'); // in which a second writer need not wait for readers
        }
        $other = $this->startCode($framework, <<<'PHP'
            foreach (['b2', 'b3'] as $name) {
                $await('row is read');
                Tag::find(2)->update(['name' => $name]);
                $tell('other row is committed');
            }
            PHP);
        $output = $this->code($framework, <<<'PHP'
            $meetsAnother = true;
            Tag::updating(static function () use ($tell, $await, &$meetsAnother): void {
                if ($meetsAnother) {
                    $meetsAnother = false;
                    $tell('row is read');
                    $await('other row is committed');
                }
            });
            $a = Tag::find(1);
            $try(static fn () => $a->update(['name' => 'a2']));
            $a->save();
            $meetsAnother = true;
            DB::transaction(static fn () => $a->update(['name' => 'a3']), attempts: 2);
            echo $rows();
            PHP);
        self::assertSame([0, ''], [$other->status(), $other->output()]);
        self::assertMatchesRegularExpression($isSqlite ? '/^Illuminate.*QueryException: .*database is locked.*\na3 b3$/s' : '/^a3 b3$/', $output);
        self::assertSame(['a', 'b', 'b2', 'a2', 'b3', 'a3'], $this->added('tags'));
    }

    /** @return string[] */
    protected function added(string $set, string $prefix = 'keysieve'): array
    {
        preg_match_all('/^key\n(.*)$/m', $this->redis->command('XRANGE', "$prefix:$set:adds", '-', '+'), $added);
        return $added[1];
    }

    /** @param array<string, string> $settings */
    protected function code(string $framework, string $code, array $settings = []): string
    {
        return $this->examples->code($this->application($framework, $settings) . $code);
    }

    /** Runs beside this process, in an application that code() has made. */
    protected function startCode(string $framework, string $code): Background
    {
        return $this->examples->startCode($this->application($framework) . $code);
    }

    /**
     * @param array<string, string> $settings
     * @return string the beginning of code that runs in it
     */
    private function application(string $framework, array $settings = []): string
    {
        $constants = [
            'FRAMEWORK' => $framework,
            'AUTOLOADER' => Framework::autoloader($framework),
            'TEMPORARY' => (string) $this->examples->folder,
            'SETTINGS' => $settings + ['redis' => 'default'],
            'MARIADB' => self::$mariaDb?->socket,
        ];
        $given = '';
        foreach ($constants as $name => $value) {
            $given .= "const $name = " . var_export($value, true) . ";\n";
        }
        return "{$given}require FOLDER . '/../php-tests/Support/eloquent.php';\n";
    }
}
