<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Background;
use KeySieve\Tests\Support\Folder;

/** A process that answers questions by one implementation, seen from the driver. Ends with the object. */
final class Worker
{
    private const SECONDS_PER_ANSWER = 300; // only what never comes takes so long

    private readonly Background $process;
    private int $logged = 0;

    /**
     * @param string[]              $command
     * @param array<string, string> $environment
     */
    public function __construct(private readonly string $implementation, array $command, array $environment)
    {
        $this->process = new Background(new Folder('worker'), $command, $environment, [['pipe', 'r'], ['pipe', 'w']]);
    }

    /** @param list<Question> $questions */
    public function ask(array $questions): void
    {
        $frame = serialize($questions);
        @fwrite($this->process->pipes[0], pack('N', strlen($frame)) . $frame); // to one that is gone: the next answer says so
    }

    /** @throws Died */
    public function nextAnswer(): array
    {
        return unserialize($this->read(unpack('N', $this->read(4))[1]));
    }

    /** @return list<string> what was written to the error log since the last call */
    public function newLogLines(): array
    {
        $text = substr($this->process->output(), $this->logged);
        $this->logged += strlen($text);
        return $text === '' ? [] : explode("\n", rtrim($text, "\n"));
    }

    private function read(int $length): string
    {
        $bytes = '';
        while (strlen($bytes) < $length) {
            [$read, $write, $except] = [[$this->process->pipes[1]], null, null];
            $isThere = stream_select($read, $write, $except, self::SECONDS_PER_ANSWER) === 1;
            $piece = $isThere ? fread($this->process->pipes[1], $length - strlen($bytes)) : '';
            if ($piece === '' || $piece === false) {
                $how = $isThere ? 'has ended with ' . $this->process->status() : 'gave no answer';
                throw new Died("the $this->implementation $how. " . implode("\n", $this->newLogLines()));
            }
            $bytes .= $piece;
        }
        return $bytes;
    }
}

/** A worker has ended, or gives no answer. */
final class Died extends \RuntimeException
{
}
