<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A real php-fpm in a directory of its own, with one pool or more. Ends with the object. */
final class FpmPool
{
    public readonly string $log;
    public readonly string $page;
    private readonly Folder $directory;
    /** @var array<string, resource> listening TCP sockets by pool: they take connections also while there is no master */
    private readonly array $sockets;
    private Background $master;

    /**
     * @param string                               $script    the PHP code that every request runs, without an opening tag
     * @param array<string, array<string, ?string>> $pools    by name: directives that add to those of every pool, or
     *                                                        replace them, by null: by none; {folder} is that of the
     *                                                        page
     * @param array<string, string|string[]>       $settings  as of php.ini; several of one name in an array
     * @param ?string                              $user      of the master, in place of this process's
     * @param string                               $ini       what php.ini holds
     * @param bool                                 $isBare    without keysieve's extension
     */
    public function __construct(
        string $script,
        private array $pools = ['pages' => []],
        private array $settings = [],
        private readonly ?string $user = null,
        string $ini = '',
        private readonly bool $isBare = false,
    ) {
        if ($user !== null) {
            TestCase::needsRoot();
        }
        $this->directory = new Folder('fpm', 0711);
        $this->log = "{$this->directory}/php.log";
        $this->page = "{$this->directory}/page.php";
        $this->sockets = array_map(static fn () => stream_socket_server('tcp://127.0.0.1:0'), $pools);
        file_put_contents($this->page, "<?php\n$script");
        file_put_contents("{$this->directory}/fpm.conf", $this->configuration());
        file_put_contents("{$this->directory}/php.ini", $ini);
        touch($this->log);
        chmod($this->log, 0666); // pools may be of several users
        if ($user !== null) {
            // By number: with its own assertions on, a PHP with threads finds no user by name.
            chown((string) $this->directory, posix_getpwnam($user)['uid']);
        }
        $this->start();
    }

    /** @param array<string, string> $parameters as of FastCgiRequest */
    public function request(string $query = '', ?string $pool = null, array $parameters = []): FastCgiRequest
    {
        $pool ??= array_key_first($this->pools);
        return new FastCgiRequest($this->address($pool), $this->seenFrom($pool, $this->page), $query, $parameters);
    }

    /** Host and port. */
    public function address(?string $pool = null): string
    {
        return stream_socket_get_name($this->sockets[$pool ?? array_key_first($this->pools)], false);
    }

    /** @return int[] the processes of all workers */
    public function workers(): array
    {
        $master = $this->master->pid();
        preg_match_all('/\d+/', file_get_contents("/proc/$master/task/$master/children"), $found);
        return array_map(intval(...), $found[0]);
    }

    /** Has the master execute itself again, as `systemctl reload php-fpm` does. */
    public function reload(): void
    {
        $this->master->signal(SIGUSR2);
    }

    /** Lets the workers finish, as `systemctl restart php-fpm` does, and starts another master. */
    public function restart(): void
    {
        $this->master->end(SIGQUIT);
        $this->start();
    }

    private function start(): void
    {
        $command = [
            self::program(), '-c', "{$this->directory}/php.ini", '--nodaemonize', '--fpm-config', "{$this->directory}/fpm.conf",
            '-d', 'opcache.jit=tracing', '-d', 'opcache.jit_buffer_size=16M',
        ];
        $settings = [...PhpScript::opcache(), 'extension' => $this->isBare ? [] : [getenv('KEYSIEVE_EXTENSION')]];
        foreach (array_merge_recursive($settings, $this->settings) as $name => $values) {
            foreach ((array) $values as $value) {
                array_push($command, '-d', "$name=$value");
            }
        }
        if ($this->user !== null) {
            array_unshift($command, 'setpriv', "--reuid={$this->user}", '--regid=nogroup', '--clear-groups');
        } elseif (posix_geteuid() === 0) {
            $command[] = '--allow-to-run-as-root';
        }
        $files = $inherited = [];
        foreach (array_keys($this->pools) as $number => $pool) {
            $files[3 + $number] = $this->sockets[$pool];
            $inherited[] = "{$this->address($pool)}=" . 3 + $number;
        }
        // None of the system's modules. An empty value would not reach the process.
        $environment = ['PHP_INI_SCAN_DIR' => '/dev/null', 'FPM_SOCKETS' => implode(',', $inherited)];
        $starts = fn (): int => substr_count((string) @file_get_contents("{$this->directory}/fpm.log"), 'ready to handle connections');
        $before = $starts();
        $this->master = new Background($this->directory, $command, $environment, $files);
        if (!Deadline::reaches(fn (): bool => $starts() > $before || !$this->master->isRunning()) || $starts() === $before) {
            throw new \RuntimeException("php-fpm did not start: {$this->master->output()}");
        }
    }

    /** Workers may finish what they have begun when they are told to end. */
    private function configuration(): string
    {
        $lines = ['[global]', "error_log = {$this->directory}/fpm.log", 'process_control_timeout = 120s'];
        foreach ($this->pools as $pool => $directives) {
            $directives += [
                'user' => $this->user ?? posix_getpwuid(posix_geteuid())['name'],
                'listen' => $this->address($pool),
                'pm' => 'static',
                'pm.max_children' => '2',
                'php_admin_value[keysieve.directory]' => $this->seenFrom($pool, SharedMemory::directory()),
                'php_admin_value[error_log]' => $this->seenFrom($pool, $this->log),
            ];
            $lines[] = "[$pool]";
            foreach (array_filter($directives, is_string(...)) as $name => $value) {
                $lines[] = "$name = " . strtr($value, ['{folder}' => $this->directory]);
            }
        }
        return implode("\n", $lines) . "\n";
    }

    private function seenFrom(string $pool, string $path): string
    {
        return substr($path, strlen($this->pools[$pool]['chroot'] ?? ''));
    }

    private static function program(): string
    {
        $name = 'php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        $paths = [(string) getenv('PHP_FPM'), "/usr/sbin/$name", '/usr/local/sbin/php-fpm', '/usr/sbin/php-fpm'];
        return array_values(array_filter($paths, is_executable(...)))[0]
            ?? throw new \RuntimeException("$name is not installed; PHP_FPM may name it");
    }
}
