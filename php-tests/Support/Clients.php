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

    /** @var Background[] */
    private array $processes = [];

    public function __construct(FpmPool $pool, string $name = 'pages', int $count = 4)
    {
        $arguments = [__DIR__ . '/FastCgiRequest.php', $pool->address($name), $pool->page];
        for ($i = 0; $i < $count; ++$i) {
            $command = [PHP_BINARY, '-n', '-r', self::LOOP, ...$arguments];
            $this->processes[] = new Background(new Folder('client'), $command, files: [['pipe', 'r']]);
        }
    }

    /** @return array{right: int, wrong: string[], failed: string[]} all answers, and requests that got none */
    public function stop(): array
    {
        $all = ['right' => 0, 'wrong' => [], 'failed' => []];
        foreach ($this->processes as $process) {
            fclose($process->pipes[0]);
        }
        foreach ($this->processes as $process) {
            $process->status();
            $answers = json_decode($process->output(), true, flags: JSON_THROW_ON_ERROR);
            $all['right'] += $answers['right'];
            array_push($all['wrong'], ...$answers['wrong']);
            array_push($all['failed'], ...$answers['failed']);
        }
        return $all;
    }
}
