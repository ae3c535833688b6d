<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A mariadbd of its own on a unix socket, whose database "app" any user may change. Ends with the object. */
final class MariaDbServer
{
    /** What PHP needs for it, for an Examples. */
    public const MODULES = ['mysqlnd', 'pdo_mysql'];

    public readonly string $socket;
    private readonly Background $process;

    public function __construct()
    {
        $folder = new Folder('mariadb');
        $this->socket = "$folder/mariadb.sock";
        $user = posix_getpwuid(posix_geteuid())['name']; // root must be named
        // Without tables of users the folder may be empty at first, so this takes 0.2 s; mariadb-install-db would take seconds.
        $place = ["--datadir=$folder", "--socket=$this->socket", "--user=$user", '--skip-networking', '--skip-grant-tables'];
        $small = ['--innodb-log-file-size=4M', '--innodb-buffer-pool-size=8M', '--innodb-flush-log-at-trx-commit=0', '--innodb-flush-method=nosync'];
        $this->process = new Background($folder, ['/usr/sbin/mariadbd', '--no-defaults', ...$place, ...$small]);
        $answers = fn (): bool => $this->run('SELECT 1')->status === 0;
        if (!Deadline::reaches(fn (): bool => !$this->process->isRunning() || $answers()) || !$this->process->isRunning()) {
            throw new \RuntimeException("mariadbd does not answer: {$this->process->output()}");
        }
    }

    public function __destruct()
    {
        $this->process->end(SIGKILL);
    }

    /** Removes all tables. */
    public function clear(): void
    {
        $program = $this->run('CREATE OR REPLACE DATABASE app CHARACTER SET utf8mb4');
        $program->status === 0 || throw new \RuntimeException($program->errors);
    }

    private function run(string $sql): Program
    {
        return Program::run(['mariadb', '--no-defaults', "--socket=$this->socket", '--execute', $sql]);
    }
}
