<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

/** A bash script that runs in its own machine (disposable_root), in parallel with this process. Ends with the object. */
final class DisposableRun
{
    private readonly string $script;
    private readonly string $log;
    /** @var resource */
    private $process;
    private ?int $status = null;

    public function __construct(string $commands)
    {
        $this->script = tempnam(sys_get_temp_dir(), 'recipe');
        $this->log = "{$this->script}.log";
        file_put_contents($this->script, $commands);
        $log = ['file', $this->log, 'a'];
        $this->process = proc_open([__DIR__ . '/disposable_root', $this->script], [['file', '/dev/null', 'r'], $log, $log], $pipes);
    }

    public function __destruct()
    {
        if ($this->status === null) {
            proc_terminate($this->process); // nothing in there survives it
            proc_close($this->process);
        }
        unlink($this->script);
        unlink($this->log);
    }

    /** Waits for its end. */
    public function status(): int
    {
        return $this->status ??= proc_close($this->process);
    }

    /** All that it has said, errors as well. */
    public function output(): string
    {
        return file_get_contents($this->log);
    }
}
