<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** A process that answers questions by one implementation, seen from the driver. Ends with the object. */
final class Worker
{
    private const SECONDS_PER_ANSWER = 300; // only what never comes takes so long

    /** @var resource */
    private $process;
    /** @var array<int, resource> */
    private array $pipes = [];
    private int $logged = 0;

    /**
     * @param string[]              $command
     * @param array<string, string> $environment
     */
    public function __construct(private readonly string $implementation, array $command, array $environment, private readonly string $log)
    {
        $files = [['pipe', 'r'], ['pipe', 'w'], ['file', $log, 'w']];
        $this->process = proc_open($command, $files, $this->pipes, null, $environment + getenv());
    }

    public function __destruct()
    {
        array_map(fclose(...), $this->pipes);
        proc_close($this->process);
        unlink($this->log);
    }

    /** @param list<Question> $questions */
    public function ask(array $questions): void
    {
        $frame = serialize($questions);
        @fwrite($this->pipes[0], pack('N', strlen($frame)) . $frame); // to one that is gone: the next answer says so
    }

    /** @throws Died */
    public function nextAnswer(): array
    {
        return unserialize($this->read(unpack('N', $this->read(4))[1]));
    }

    /** @return list<string> what was written to the error log since the last call */
    public function newLogLines(): array
    {
        $text = file_get_contents($this->log, offset: $this->logged);
        $this->logged += strlen($text);
        return $text === '' ? [] : explode("\n", rtrim($text, "\n"));
    }

    private function read(int $length): string
    {
        $bytes = '';
        while (strlen($bytes) < $length) {
            [$read, $write, $except] = [[$this->pipes[1]], null, null];
            $isThere = stream_select($read, $write, $except, self::SECONDS_PER_ANSWER) === 1;
            $piece = $isThere ? fread($this->pipes[1], $length - strlen($bytes)) : '';
            if ($piece === '' || $piece === false) {
                throw new Died($this->howItEnded($isThere) . implode("\n", $this->newLogLines()));
            }
            $bytes .= $piece;
        }
        return $bytes;
    }

    private function howItEnded(bool $hasEnded): string
    {
        if (!$hasEnded) {
            proc_terminate($this->process, 9);
            return "the $this->implementation gave no answer. ";
        }
        do {
            usleep(1_000);
            $status = proc_get_status($this->process);
        } while ($status['running']);
        $how = $status['signaled'] ? "was ended by signal {$status['termsig']}" : "ended with {$status['exitcode']}";
        return "the $this->implementation $how. ";
    }
}
