<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A real php-fpm with two workers, on a unix socket in a directory of its own. Ends with the object. */
final class FpmPool
{
    public readonly string $log;
    private readonly string $directory;
    /** @var resource */
    private $master;

    /** @param string $script the PHP code that every request runs, without an opening tag */
    public function __construct(string $script)
    {
        $this->directory = sys_get_temp_dir() . '/keysieve-fpm-' . bin2hex(random_bytes(6));
        mkdir($this->directory, 0700);
        $this->log = "{$this->directory}/php.log";
        file_put_contents("{$this->directory}/page.php", "<?php\nusleep(20_000); // so that both workers get requests\n$script");
        file_put_contents("{$this->directory}/fpm.conf", $this->configuration());
        $this->start();
    }

    public function __destruct()
    {
        proc_terminate($this->master, SIGTERM);
        proc_close($this->master);
        array_map('unlink', glob("{$this->directory}/*"));
        rmdir($this->directory);
    }

    /**
     * Asks both workers: requests go out in pairs until each has answered one.
     *
     * @return array<int, mixed> what the page printed as JSON, by worker
     */
    public function askBothWorkers(string $query = ''): array
    {
        $answers = [];
        Deadline::reaches(function () use (&$answers, $query): bool {
            $requests = [$this->request($query), $this->request($query)];
            foreach ($requests as $request) {
                ['worker' => $worker, 'answer' => $answer] = json_decode($request->body(), true, flags: JSON_THROW_ON_ERROR);
                $answers[$worker] = $answer;
            }
            return count($answers) === 2;
        });
        ksort($answers);
        return $answers;
    }

    /** Has the master execute itself anew, as `systemctl reload php-fpm` does. */
    public function reload(): void
    {
        posix_kill(proc_get_status($this->master)['pid'], SIGUSR2);
    }

    private function request(string $query): FastCgiRequest
    {
        return new FastCgiRequest("{$this->directory}/socket", "{$this->directory}/page.php", $query);
    }

    private function start(): void
    {
        $command = [
            self::program(), '-n', '--nodaemonize', '--fpm-config', "{$this->directory}/fpm.conf",
            '-d', 'extension=' . getenv('KEYSIEVE_EXTENSION'),
            '-d', 'zend_extension=opcache', '-d', 'opcache.jit=tracing', '-d', 'opcache.jit_buffer_size=16M',
        ];
        if (posix_geteuid() === 0) {
            $command[] = '--allow-to-run-as-root';
        }
        $output = ['file', "{$this->directory}/output", 'w'];
        $this->master = proc_open($command, [['file', '/dev/null', 'r'], $output, $output], $pipes);
        if (!Deadline::reaches(fn (): bool => @stream_socket_client("unix://{$this->directory}/socket") !== false)) {
            throw new \RuntimeException('php-fpm did not start: ' . file_get_contents("{$this->directory}/output"));
        }
    }

    private function configuration(): string
    {
        $sets = SharedMemory::directory();
        $user = posix_getpwuid(posix_geteuid())['name'];
        return <<<INI
            [global]
            error_log = {$this->directory}/fpm.log
            [pages]
            user = $user
            listen = {$this->directory}/socket
            pm = static
            pm.max_children = 2
            php_admin_value[keysieve.directory] = $sets
            php_admin_value[error_log] = {$this->log}

            INI;
    }

    private static function program(): string
    {
        $name = 'php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        foreach ([getenv('PHP_FPM'), "/usr/sbin/$name", "/usr/local/sbin/php-fpm", '/usr/sbin/php-fpm'] as $path) {
            if ($path !== false && is_executable($path)) {
                return $path;
            }
        }
        throw new \RuntimeException("$name is not installed; PHP_FPM may name it");
    }
}
