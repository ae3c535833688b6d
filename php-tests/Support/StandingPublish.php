<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A `keysieve publish` that stands still (SIGSTOP) in its middle, with the lock held, until it is told to go on. */
final class StandingPublish
{
    /** System calls of a publish, by name and number, from its first file to its last rename: it stops behind one. */
    public const MOMENTS = ['fchmod:1', 'write:1', 'fchmod:2', 'ftruncate:1', 'write:2', 'write:3', 'renameat2:1', 'renameat2:2'];

    private const LOCKED = 75;

    /** @var resource */
    private $process;

    public function __construct(private readonly string $snapshot, string $moment)
    {
        $trace = tempnam(sys_get_temp_dir(), 'keysieve-trace-');
        [$call, $number] = explode(':', $moment);
        // By -D strace is the grandchild, and the publish itself the process that is started here.
        $strace = ['strace', '-D', '-o', $trace, '-e', "trace=$call", '-e', "inject=$call:signal=SIGSTOP:when=$number"];
        $this->process = proc_open(
            [...$strace, ...$this->command()],
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], STDERR],
            $pipes,
        );
        $hasStopped = Deadline::reaches(static fn (): bool => str_contains(file_get_contents($trace), '--- stopped by SIGSTOP'));
        unlink($trace);
        if (!$hasStopped) {
            throw new \RuntimeException("no publish has stopped behind $moment");
        }
    }

    public function __destruct()
    {
        if (is_resource($this->process)) {
            proc_terminate($this->process, SIGKILL);
        }
    }

    /** Whether another one is refused. */
    public function isUnderWay(): bool
    {
        return Program::run($this->command())->status === self::LOCKED;
    }

    /** @return int its exit status */
    public function goOn(): int
    {
        proc_terminate($this->process, SIGCONT);
        return proc_close($this->process);
    }

    /** @return string[] */
    private function command(): array
    {
        return [getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'publish', '--directory', SharedMemory::directory(), $this->snapshot];
    }
}
