<?php

declare(strict_types=1);

namespace KeySieve\Tests\Examples;

use KeySieve\Tests\Support\Examples;
use KeySieve\Tests\Support\RedisServer;
use KeySieve\Tests\Support\TestCase;

/** Names that are free or taken, and registered by add-then-commit. ReadmeTest has a loader that finds what was added. */
final class UserNamesTest extends TestCase
{
    private RedisServer $redis;
    private Examples $examples;

    protected function setUp(): void
    {
        $this->redis = new RedisServer();
        $this->examples = new Examples(['EXAMPLES_REDIS' => $this->redis->socket]);
        $this->examples->setUp('users');
    }

    public function testNamesThatLookTheSameAreTheSame(): void
    {
        self::assertSame(
            "carol: free\nAlice: taken\nＢＯＢ: taken\nJU\u{308}RGEN: taken\n"
                . "ab: not a name\nno body: not a name\n\xff\xff\xff: not a name\n3 queries\n",
            $this->examples->output('usernames/available.php', 'carol', 'Alice', 'ＢＯＢ', "JU\u{308}RGEN", 'ab', 'no body', "\xff\xff\xff"),
        );
    }

    public function testAnErrorThatIsNotAboutTheNameDoesNotMeanTaken(): void
    {
        $error = $this->register('erin', <<<'PHP'
            $db->connection()->exec(<<<'SQL'
                CREATE TRIGGER full BEFORE INSERT ON users BEGIN SELECT RAISE(ABORT, 'no room for more'); END
                SQL);
            PHP);
        self::assertStringStartsWith('23000: ', $error, 'of the same class as a name that is taken');
        self::assertStringEndsWith('no room for more', $error);
        self::assertSame([], $this->redis->added('users'));
    }

    /** As PostgreSQL says it; SQLite and MySQL say 23000. */
    public function testATakenNameIsTakenWhateverTheDatabaseCallsIt(): void
    {
        $prepare = <<<'PHP'
            final class PostgresError extends PDOException
            {
                protected $code = '23505';
            }
            $connection = new class('sqlite:' . getenv('EXAMPLES_DB')) extends PDO {
                public function prepare(string $query, array $options = []): PDOStatement|false
                {
                    str_starts_with($query, 'INSERT') && throw new PostgresError('duplicate key value violates unique constraint');
                    return parent::prepare($query, $options);
                }
            };
            (fn () => $this->connection = $connection)->call($db);
            PHP;
        self::assertSame('taken', $this->register('alice', $prepare));
        self::assertSame([], $this->redis->added('users'), 'what is refused is not added');
        self::assertSame('23505: duplicate key value violates unique constraint', $this->register('erin', $prepare));
    }

    public function testTheAddIsInTheLogBeforeTheRowCanBeSeen(): void
    {
        $seen = $this->code(<<<'PHP'
            /** Another connection looks for the row at the moment of the add. */
            final class WatchedAdds implements KeySieve\Adds\Adds
            {
                public function __construct(private readonly KeySieve\Adds\Adds $adds)
                {
                }

                public function add(string $set, string|int ...$keys): void
                {
                    $this->adds->add($set, ...$keys);
                    echo json_encode($keys), ' ', (new App\Database())->column('SELECT count(*) FROM users')[0], "\n";
                }
            }
            $db->column('PRAGMA journal_mode = WAL'); // readers do not wait for writers
            $names->register('dave', new WatchedAdds($adds));
            echo $db->column('SELECT count(*) FROM users')[0];
            PHP);
        self::assertSame("[\"dave\"] 3\n4", $seen);
        self::assertSame(['dave'], $this->redis->added('users'));
    }

    public function testAHangingRedisLeavesNoRow(): void
    {
        posix_kill($this->redis->pid(), SIGSTOP); // it keeps all clients waiting, as a host that is out of memory does
        $this->code(<<<'PHP'
            try {
                $names->register('erin', $adds);
                exit(1);
            } catch (KeySieve\Adds\AddException) {
            }
            PHP, 0.5);
        self::assertSame('3', $this->code("echo \$db->column('SELECT count(*) FROM users')[0];"));
    }

    /** What comes of registering the name: its state, or the error. */
    private function register(string $name, string $prepare): string
    {
        $name = var_export($name, true);
        return $this->code(<<<PHP
            $prepare
            try {
                echo \$names->register($name, \$adds)->value;
            } catch (PDOException \$error) {
                echo "{\$error->getCode()}: {\$error->getMessage()}";
            }
            PHP);
    }

    /** Runs code that has a $db, $adds and $names. */
    private function code(string $code, float $seconds = 60): string
    {
        return $this->examples->code("const SECONDS = $seconds;" . <<<'PHP'
            require FOLDER . '/../php/bootstrap.php';
            require FOLDER . '/Database.php';
            foreach (['NameState', 'UserNameKey', 'UserNames'] as $class) {
                require FOLDER . "/usernames/$class.php";
            }
            $db = new App\Database();
            $adds = new KeySieve\Adds\RedisAdds(static function (): Redis {
                $redis = new Redis();
                $redis->connect(getenv('EXAMPLES_REDIS'), 0, SECONDS, null, 0, SECONDS);
                return $redis;
            });
            $names = new App\UserNames(new KeySieve\Keys\KeyedSet('users', App\UserNameKey::class), $db);

            PHP . $code);
    }
}
