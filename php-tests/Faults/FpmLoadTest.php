<?php

declare(strict_types=1);

namespace KeySieve\Tests\Faults;

use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\FpmPool;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\Soak;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * nginx and php-fpm under wrk, with each process manager. A key list is built, pushed and published every second, and keys are added all
 * the time. Every other second the folder of the set is renamed, an empty file system mounted over the directory, or the loader or
 * php-fpm starts again, until each has happened once. Once a new process has seen an added key, no later request may miss it.
 */
#[Group('soak')]
final class FpmLoadTest extends TestCase
{
    private const SET = 'loaded';
    private const KEYS = 20_000;
    private const KEYS_PER_ADD = 5;
    private const WORKERS = '8';

    /** Generous: a machine that is stopped for minutes is no failure. */
    private const TIMEOUT = '300s';
    /** wrk is ended before: when pages have asked for added keys, however long that takes. */
    private const LONGEST = '10h';

    /** What happens to the loader and to php-fpm, through which the set stays ready, and to the folder of the set as well. */
    private const STARTS = ['kill', 'restart', 'reload', 'terminate'];
    private const ALL = ['mount', 'kill', 'restart', 'rename', 'reload', 'terminate'];

    /** Answers 500 if a key of the set is absent, or none of those that are strange to it; while it is missing, every answer is maybe. */
    private const PAGE = <<<'PHP'
        function some(string $name, int $from, int $to): array
        {
            return array_map(static fn (): string => "$name " . random_int($from, $to), range(1, 10));
        }
        $keys = [...some('key', 1, COUNT), ...some('key', 1, COUNT)];
        $added = (int) file_get_contents('ADDED');
        if ($added > 0) {
            array_push($keys, ...some('added', 1, $added), ...some('added', max(1, $added - 50), $added));
        }
        $set = new KeySieve\Set('SET');
        $state = $set->availability()->name;
        $lost = array_diff($keys, $set->candidates(array_slice($keys, 10)), array_filter(array_slice($keys, 0, 10), $set->mayContain(...)));
        $strange = [...some('strange', 1, 1 << 40), ...some('strange', 1, 1 << 40)];
        $trouble = match (true) {
            !in_array($state, ['Ready', 'OR_ELSE'], true) => "is $state",
            $lost !== [] => 'has lost ' . implode(', ', $lost),
            $state === 'Ready' && $set->candidates($strange) === $strange && $set->availability()->name === 'Ready' => 'knows everything',
            default => null,
        };
        if ($trouble !== null) {
            http_response_code(500);
            error_log("SET $trouble");
        }
        PHP;

    /** In memory, as /run is. */
    private Folder $directory;
    private int $mounts = 0;
    private int $disturbances = 0;
    private int $firstKind;
    private Loader $loader;
    private FpmPool $pool;
    private Folder $folder;
    private string $url;
    private int $added = 0;
    private int $seen = 0;

    protected function setUp(): void
    {
        $this->folder = new Folder('load', 0755);
        $this->directory = new Folder('sets', 0711, '/dev/shm');
        $this->mount();
        $this->loader = new Loader([self::SET], directory: (string) $this->directory);
    }

    protected function tearDown(): void
    {
        unset($this->loader, $this->pool);
        for (; $this->mounts > 0; --$this->mounts) {
            Program::output(['umount', '--lazy', (string) $this->directory]);
        }
        unset($this->directory, $this->folder);
    }

    /** @return iterable<string, array{array<string, string>, string[], int}> what disturbs, and the first kind that is pushed */
    public static function processManagers(): iterable
    {
        $most = ['pm.max_children' => self::WORKERS];
        yield 'static' => [$most, self::ALL, 0];
        yield 'static, always ready' => [$most, self::STARTS, 1];
        $few = ['pm.max_requests' => '20', ...$most];
        $spare = ['pm.start_servers' => '1', 'pm.min_spare_servers' => '1', 'pm.max_spare_servers' => '2'];
        yield 'dynamic' => [['pm' => 'dynamic', ...$spare, ...$few], self::ALL, 2];
        yield 'ondemand' => [['pm' => 'ondemand', 'pm.process_idle_timeout' => '1s', ...$few], self::ALL, 3];
    }

    /**
     * @param array<string, string> $directives
     * @param string[]              $disturbances
     */
    #[DataProvider('processManagers')]
    public function testEveryAnswerIsRightWhateverIsRefreshedAddedAndStartedAgain(array $directives, array $disturbances, int $firstKind): void
    {
        $this->firstKind = $firstKind;
        $isAlwaysReady = $disturbances === self::STARTS;
        $this->tellPages();
        $this->refresh(0);
        self::assertSoon(fn (): bool => $this->generation() === 1, $this->loader->log(...));
        $page = strtr(self::PAGE, [
            'SET' => self::SET,
            'COUNT' => (string) self::KEYS,
            'ADDED' => "{$this->folder}/added",
            'OR_ELSE' => $isAlwaysReady ? 'Ready' : 'Missing',
        ]);
        $directives['php_admin_value[keysieve.directory]'] = (string) $this->directory;
        $this->pool = new FpmPool($page, ['pages' => $directives]);
        $nginx = $this->nginx();

        $seconds = intdiv(Soak::seconds(16), 4);
        $command = ['wrk', '-t', '1', '-c', '16', '-d', self::LONGEST, '--timeout', self::TIMEOUT, '--latency', $this->url];
        $wrk = new Background(new Folder('wrk'), $command);
        $refreshes = 0;
        for ($end = microtime(true) + $seconds; microtime(true) < $end || $this->disturbances < count($disturbances);) {
            $nextRefresh = microtime(true) + 1;
            $this->refresh(++$refreshes);
            if ($refreshes % 2 === 1) {
                $this->disturb($disturbances[$this->disturbances++ % count($disturbances)]);
            }
            do {
                $this->add();
                usleep(20_000);
            } while (microtime(true) < $nextRefresh);
        }
        $wrk->end(SIGINT); // it reports
        $report = $wrk->output();

        $all = $report . file_get_contents("$this->folder/nginx.log") . file_get_contents($this->pool->log);
        self::assertStringNotContainsString('Non-2xx', $report, $all);
        self::assertStringNotContainsString('Socket errors', $report, $all);
        // A worker that had missed a publication when the folder went has nothing to answer from until the next one.
        $expected = $isAlwaysReady ? '/^$/' : '/ (keeps its old publication: |is missing \().*(nothing is published yet|No such file)'
            . '|is (up to date|ready) again$/';
        self::assertSame('', implode('', preg_grep($expected, file($this->pool->log), PREG_GREP_INVERT)), 'lines that nobody expects');
        self::assertMatchesRegularExpression('/\b[1-9]\d* requests in/', $report);
        $areMostPublished = fn (): bool => $this->generation() > $refreshes / 2;
        self::assertSoon($areMostPublished, fn (): string => "generation {$this->generation()} of $refreshes");
        preg_match('/99%\s+(\S+)[^$]*?(\d+) requests in/', $report, $figures);
        Soak::report(sprintf(
            'php-fpm (%s) under wrk for %d s: %s requests, %d generations, %d keys added, %d renames, mounts and restarts, p99 %s: '
                . 'none failed, no key absent that was seen',
            $this->dataName(),
            $seconds,
            number_format((int) $figures[2]),
            $this->generation(),
            $this->added,
            $this->disturbances,
            $figures[1],
        ));
    }

    /** Hands every request to the page of php-fpm. */
    private function nginx(): Background
    {
        $address = stream_socket_get_name(stream_socket_server('tcp://127.0.0.1:0'), false);
        $this->url = "http://$address/";
        $user = posix_geteuid() === 0 ? 'user root;' : '';
        file_put_contents("{$this->folder}/nginx.conf", <<<CONF
            $user
            daemon off;
            worker_processes 1;
            pid {$this->folder}/pid;
            error_log {$this->folder}/nginx.log;
            events { worker_connections 256; }
            http {
              access_log off;
              client_body_temp_path {$this->folder}; fastcgi_temp_path {$this->folder};
              proxy_temp_path {$this->folder}; scgi_temp_path {$this->folder}; uwsgi_temp_path {$this->folder};
              keepalive_requests 1000000000;
              server {
                listen $address;
                location / {
                  fastcgi_param SCRIPT_FILENAME {$this->pool->page};
                  fastcgi_param QUERY_STRING \$query_string;
                  fastcgi_param REQUEST_METHOD \$request_method;
                  fastcgi_read_timeout 300;
                  fastcgi_pass {$this->pool->address()};
                }
              }
            }

            CONF);
        $program = array_values(array_filter(['/usr/sbin/nginx', '/usr/local/sbin/nginx'], is_executable(...)))[0] ?? 'nginx';
        $nginx = new Background($this->folder, [$program, '-c', "{$this->folder}/nginx.conf", '-e', "{$this->folder}/nginx.log"]);
        $nginx->awaitListening("tcp://$address");
        return $nginx;
    }

    /** As a batch would make it; every other time with another seed, and of another kind. */
    private function refresh(int $round): void
    {
        $keys = [...self::keys(self::KEYS), ...self::keys($this->added, 'added')];
        $kinds = SharedMemory::kinds();
        $kind = $kinds[($this->firstKind + intdiv($round, 2)) % count($kinds)];
        $options = $round % 2 === 0 ? ['--kind', $kind] : ['--like', $this->loader->store];
        $this->loader->push(SharedMemory::build(self::SET, $keys, $options));
    }

    private function add(): void
    {
        $keys = [];
        for ($i = 0; $i < self::KEYS_PER_ADD; ++$i) {
            $keys[] = 'added ' . ++$this->added;
        }
        $this->loader->add(self::SET, ...$keys);
        self::assertSoon(fn (): bool => $this->areSeen($keys), $this->loader->log(...));
        $this->seen = $this->added;
        $this->tellPages();
    }

    /** A folder that was there is left behind for good. */
    private function disturb(string $how): void
    {
        match ($how) {
            'mount' => $this->mount(),
            'rename' => rename("{$this->directory}/" . self::SET, "{$this->directory}/left-{$this->disturbances}"),
            'kill' => $this->loader->restart(SIGKILL),
            'terminate' => $this->loader->restart(SIGTERM),
            'restart' => $this->pool->restart(),
            'reload' => $this->pool->reload(),
        };
    }

    /** An empty file system, over what is there. Only root can. */
    private function mount(): void
    {
        if (posix_geteuid() === 0) {
            Program::output(['mount', '-t', 'tmpfs', '-o', 'size=64m,mode=0711', 'tmpfs', (string) $this->directory]);
            ++$this->mounts;
        }
    }

    /**
     * Asks a process of its own, which answers from what is current; maybe without a publication does not count.
     *
     * @param string[] $keys
     */
    private function areSeen(array $keys): bool
    {
        if ($this->generation() === null) {
            return false;
        }
        $query = [getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'query', '--directory', (string) $this->directory, '--json', self::SET];
        $query = Program::run([...$query, ...$keys]);
        return $query->status === 0 && !str_contains($query->output, 'absent');
    }

    private function generation(): ?int
    {
        // Ends with 1: one set is damaged on purpose.
        $status = Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'status', '--directory', (string) $this->directory, '--json'])->output;
        foreach (json_decode($status, true)['sets'] as $set) {
            if ($set['set'] === self::SET && $set['availability'] === 'ready') {
                return $set['generation'];
            }
        }
        return null;
    }

    private function tellPages(): void
    {
        file_put_contents("{$this->folder}/added.new", (string) $this->seen);
        rename("{$this->folder}/added.new", "{$this->folder}/added");
    }
}
