<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\MariaDbServer;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** Entities whose keys are added before they are committed, in an application of Symfony with Doctrine and SQLite. */
#[Group('frameworks')]
class DoctrineTest extends TestCase
{
    private const SYMFONY = ['symfony/cache', 'symfony/doctrine-bridge', 'symfony/framework-bundle', 'symfony/messenger'];

    protected static ?MariaDbServer $mariaDb = null;
    private RedisServer $redis;
    private Examples $examples;

    protected function setUp(): void
    {
        self::$mariaDb?->clear();
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket], self::$mariaDb === null ? [] : MariaDbServer::MODULES);
    }

    /** @return iterable<string, array{array<string, string>, string}> packages, and options of the DSN */
    public static function applications(): iterable
    {
        yield from Framework::chosen([
            'Symfony 7.4, Doctrine 3 and phpredis' => [
                array_fill_keys(self::SYMFONY, '7.4.*') + ['doctrine/orm' => '3.*', 'doctrine/dbal' => '4.*'], '',
            ],
            'Symfony 6.4, Doctrine 2.20 and Predis' => [
                array_fill_keys(self::SYMFONY, '6.4.*') + ['doctrine/orm' => '2.20.*', 'doctrine/dbal' => '3.*'], '&class=Predis\Client',
            ],
        ]);
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testARowThatIsCommittedIsMaybeOnThisHost(array $packages, string $options): void
    {
        $loader = new Loader(['tags'], $this->redis->url);
        $snapshot = SharedMemory::build('tags', ['old']);
        $loader->push($snapshot);
        $output = $this->code($packages, $options, <<<'PHP'
            $set = new KeySieve\Set('tags');
            $until = static function (Closure $holds): void {
                for ($deadline = time() + 60; !$holds(); usleep(5_000)) {
                    time() < $deadline || exit('timed out');
                }
            };
            $until(static fn (): bool => !$set->mayContain('new'));
            $save(new Tag('NEW'));
            $until(static fn (): bool => $set->mayContain('new'));
            $container->get(KeySieve\Adds\Adds::class)->add('tags', 'by hand');
            $until(static fn (): bool => $set->mayContain('by hand'));
            echo $rows();
            PHP);
        self::assertSame('NEW', $output, $loader->log());
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testAFlushAddsItsKeysInOneCallAndIdsToo(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $recorded = new KeySieve\Testing\RecordedAdds();
            $listener = new KeySieve\Doctrine\AddKeysOfEntities($recorded);
            $db->getEventManager()->addEventListener(['onFlush', 'postPersist', 'postUpdate'], $listener);
            $save($a = new Tag('A'), new Tag('B'), new Tag('c', published: false));
            $a->name = 'a2';
            $save($d = new Tag('d'));
            echo json_encode($recorded->calls);
            PHP);
        self::assertSame('[["tags",["a","b"]],["ids",["1","2"]],["tags",["d","a2"]],["ids",["4"]]]', $output);
        self::assertSame(['a', 'b', 'd', 'a2'], $this->added('tags'));
        self::assertSame(['1', '2', '4'], $this->added('ids'));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testAnUpdateAddsOnlyKeysThatAreNew(array $packages, string $options): void
    {
        $this->code($packages, $options, <<<'PHP'
            $save($a = new Tag('a'), $b = new Tag('b'), $c = new Tag('c', published: false), $d = new Tag('d'));
            $a->views = 1;
            $a->parent = $b;
            $a->size = new Size(2);
            $a->kind = Kind::Rare;
            $a->shownAt = new DateTimeImmutable();
            $b->name = 'b2';
            $c->published = true;
            $d->name = 'what?';
            $save();
            $db->clear();
            $b = $db->getReference(Tag::class, 2); // a proxy
            $b->name = 'b3';
            $save();
            $b->views = 2;
            $save();
            $db->remove($b);
            $save();
            PHP);
        $added = $this->added('tags');
        self::assertContains('what!', $added, 'what another listener has written');
        self::assertSame(['a', 'b', 'd', 'b2', 'c', 'b3'], array_values(array_diff($added, ['what!', 'what?'])));
        self::assertSame(['1', '2', '4', '3'], $this->added('ids'));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testAnotherListenerMayFlushInTheMiddleOfAFlush(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $save($a = new Tag('a'), $b = new Tag('b'));
            Auditor::$priority = 2048;
            [$a->name, $b->name] = ['a2', 'b2'];
            $save();
            echo $rows();
            PHP);
        self::assertSame('a2 b2', $output);
        self::assertEqualsCanonicalizing(['a', 'b', 'a2', 'b2'], array_values(array_unique($this->added('tags'))));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testAListenerWithoutPriorityThatFlushesComesLater(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $save($tag = new Tag('a'));
            Auditor::$priority = 0;
            $tag->name = 'what?';
            $save();
            echo $rows();
            PHP);
        self::assertSame('what!', $output);
        self::assertContains('what!', $this->added('tags'));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testKeysAreThoseThatWereWrittenThoughAListenerChangesTheEntityThen(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $db->getEventManager()->addEventListener('onFlush', new class {
                public function onFlush($event): void
                {
                    foreach ($event->getObjectManager()->getUnitOfWork()->getScheduledEntityInsertions() as $tag) {
                        $tag->name = 'not written';
                    }
                }
            });
            $save(new Tag('a'), new Tag('b'));
            echo $rows();
            PHP);
        self::assertSame('a b', $output);
        self::assertSame(['a', 'b'], array_values(array_diff($this->added('tags'), ['not written'])));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testColumnsThatTheDatabaseGeneratesAreAdded(array $packages, string $options): void
    {
        $this->code($packages, $options, <<<'PHP'
            $save($page = new Page('ONE'));
            $page->title = 'TWO';
            $save();
            PHP);
        self::assertSame(['one', 'two'], array_values(array_unique($this->added('pages'))));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testARowThatTheDatabaseRefusesIsNotAdded(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $save(new Tag('a'));
            $save(new Tag('b'), new Tag('a'));
            echo $rows();
            PHP);
        self::assertMatchesRegularExpression('/UniqueConstraintViolationException.*\na$/s', $output);
        self::assertSame(['a'], $this->added('tags'));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testARollbackLeavesAKeyTooMany(array $packages, string $options): void
    {
        $output = $this->code($packages, $options, <<<'PHP'
            $db->beginTransaction();
            $save(new Tag('a'));
            $db->rollback();
            $db->clear();
            $save(new Tag('b'));
            echo $rows();
            PHP);
        self::assertSame('b', $output);
        self::assertSame(['a', 'b'], $this->added('tags'));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testAStoreThatIsAwayLeavesNoRow(array $packages, string $options): void
    {
        $this->redis->stop();
        $output = $this->code($packages, $options, '$save(new Tag("a"));echo "rows: ", $rows();');
        self::assertMatchesRegularExpression('/^KeySieve.Adds.AddException: keysieve:(tags|ids):adds: .*\nrows: $/s', $output);
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testAQueueKeepsWhatTheStoreDoesNotTake(array $packages, string $options): void
    {
        $this->redis->command('SET', 'shop:tags:adds', 'is no log');
        $output = $this->code($packages, $options, <<<'PHP'
            $save(new Tag('a'));
            echo $rows(), "\n";
            $handle = static function () use ($container): string {
                foreach ($container->get('messenger.transport.adds')->getSent() as $envelope) {
                    $received = $envelope->with(new Symfony\Component\Messenger\Stamp\ReceivedStamp('adds'));
                    try {
                        $container->get('messenger.default_bus')->dispatch($received);
                    } catch (Symfony\Component\Messenger\Exception\HandlerFailedException $failed) {
                        return $failed->getPrevious()::class . "\n";
                    }
                }
                return "handled\n";
            };
            echo $handle();
            exec('redis-cli -s "$EXAMPLES_REDIS" DEL shop:tags:adds');
            echo $handle();
            PHP, ['prefix' => 'shop', 'queue' => true], true);
        self::assertSame("a\nSymfony\\Component\\Messenger\\Exception\\RecoverableMessageHandlingException\nhandled\n", $output);
        self::assertSame(['a'], $this->added('tags', 'shop'));
    }

    /** @param array<string, string> $packages */
    #[DataProvider('applications')]
    public function testAQueueThatKeepsNothingLeavesNoRow(array $packages, string $options): void
    {
        $this->redis->stop();
        $output = $this->code($packages, $options, '$save(new Tag("a"));echo "rows: ", $rows();', ['queue' => true]);
        self::assertMatchesRegularExpression('/^Symfony.*HandlerFailedException: .*\nrows: $/s', $output);
    }

    /** @return string[] */
    protected function added(string $set, string $prefix = 'keysieve'): array
    {
        preg_match_all('/^key\n(.*)$/m', $this->redis->command('XRANGE', "$prefix:$set:adds", '-', '+'), $added);
        return $added[1];
    }

    /**
     * @param array<string, string>      $packages
     * @param array<string, string|bool> $settings
     */
    protected function code(array $packages, string $options, string $code, array $settings = [], bool $queue = false): string
    {
        $version = substr($packages['symfony/cache'], 0, 3);
        $project = Framework::project("doctrine $version", $packages + ['doctrine/doctrine-bundle' => '2.*', 'predis/predis' => '*']);
        $constants = [
            'AUTOLOADER' => "$project/vendor/autoload.php",
            'TEMPORARY' => (string) $this->examples->folder,
            'STORE' => "redis:{$this->redis->socket}?timeout=60&read_timeout=60$options",
            'SETTINGS' => $settings,
            'QUEUE' => $queue,
            'MARIADB' => self::$mariaDb?->socket,
            'ORM_SETTINGS' => $version === '6.4' ? ['auto_generate_proxy_classes' => true] : ['enable_lazy_ghost_objects' => true],
        ];
        $given = '';
        foreach ($constants as $name => $value) {
            $given .= "const $name = " . var_export($value, true) . ";\n";
        }
        return $this->examples->code("use App\Entity\{Kind, Page, Size, Tag};\n{$given}require FOLDER . '/../php-tests/Support/doctrine.php';\n$code");
    }
}
