<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** A program that runs next to this one; what it prints goes to the file "output" in its folder. Ends with the object. */
final class Background
{
    /** @var array<int, resource> this end of the pipes among $files */
    public array $pipes = [];
    /** @var ?resource */
    private $process;

    /**
     * @param string[]                    $command
     * @param array<string, string>       $environment added to this process's own
     * @param array<int, resource|array> $files as of proc_open(), in place of the usual ones
     */
    public function __construct(
        private readonly Folder $folder,
        array $command,
        array $environment = [],
        array $files = [],
    ) {
        $output = ['file', "$folder/output", 'a'];
        $files += [['file', '/dev/null', 'r'], $output, $output];
        ksort($files);
        $this->process = proc_open($command, $files, $this->pipes, null, $environment + Program::inheritedBy($command));
    }

    public function __destruct()
    {
        $this->end(SIGTERM);
    }

    public function awaitListening(string $address): void
    {
        if (!Deadline::reaches(static fn (): bool => @stream_socket_client($address) !== false)) {
            throw new \RuntimeException("Nothing listens at $address: {$this->output()}");
        }
    }

    public function isRunning(): bool
    {
        return proc_get_status($this->process)['running'];
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    public function signal(int $signal): void
    {
        proc_terminate($this->process, $signal);
    }

    /** Sends the signal and waits. */
    public function end(int $signal): void
    {
        if ($this->process !== null) {
            if ($this->isRunning()) {
                $this->signal($signal);
                $this->signal(SIGCONT); // a stopped one would not get the other
            }
            $this->status();
        }
    }

    /** Waits until it ends. Returns its exit status. */
    public function status(): int
    {
        $status = proc_close($this->process);
        $this->process = null;
        return $status;
    }

    public function output(): string
    {
        return file_get_contents("{$this->folder}/output");
    }
}
