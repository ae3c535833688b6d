<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** Processes that ask a pool for its page without a pause, until they are told to stop. */
final class Clients
{
    private const LOOP = <<<'PHP'
        require $argv[1];
        $answers = ['right' => 0, 'wrong' => [], 'failed' => []];
        stream_set_blocking(STDIN, false);
        while (fread(STDIN, 1) === '' && !feof(STDIN)) {
            try {
                $body = (new KeySieve\Tests\Support\FastCgiRequest($argv[2], $argv[3]))->body();
                if ($body === 'right') {
                    ++$answers['right'];
                } else {
                    $answers['wrong'][] = $body;
                }
            } catch (RuntimeException $exception) {
                $isAnswer = str_contains($exception->getMessage(), 'Status: 500');
                $answers[$isAnswer ? 'wrong' : 'failed'][] = $exception->getMessage();
            }
        }
        echo json_encode($answers);
        PHP;

    /** @var array{resource, resource[]}[] processes and their pipes */
    private array $processes = [];

    public function __construct(FpmPool $pool, string $name = 'pages', int $count = 4)
    {
        for ($i = 0; $i < $count; ++$i) {
            $process = proc_open(
                [PHP_BINARY, '-n', '-r', self::LOOP, __DIR__ . '/FastCgiRequest.php', $pool->address($name), $pool->page],
                [['pipe', 'r'], ['pipe', 'w'], STDERR],
                $pipes,
            );
            $this->processes[] = [$process, $pipes];
        }
    }

    /**
     * @return array{right: int, wrong: string[], failed: string[]} what was answered to all: as VerifyingPage says, or not
     *                                                              at all
     */
    public function stop(): array
    {
        $all = ['right' => 0, 'wrong' => [], 'failed' => []];
        foreach ($this->processes as [, $pipes]) {
            fclose($pipes[0]);
        }
        foreach ($this->processes as [$process, $pipes]) {
            $answers = json_decode(stream_get_contents($pipes[1]), true, flags: JSON_THROW_ON_ERROR);
            proc_close($process);
            $all['right'] += $answers['right'];
            array_push($all['wrong'], ...$answers['wrong']);
            array_push($all['failed'], ...$answers['failed']);
        }
        $this->processes = [];
        return $all;
    }
}
