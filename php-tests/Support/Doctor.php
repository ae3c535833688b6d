<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** What `keysieve doctor` has said. */
final class Doctor
{
    /** @param array<array{subject: string, health: string, seen: string, remedy: ?string}> $findings */
    private function __construct(public readonly int $status, public readonly string $health, public readonly array $findings)
    {
    }

    /** @param string[] $wrapper a command that runs the program, such as Clock::moved() */
    public static function ask(string $directory, array $arguments = [], array $wrapper = []): self
    {
        $program = Program::run(
            [...$wrapper, getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'doctor', '--directory', $directory, '--json', ...$arguments],
        );
        $said = json_decode($program->output, true);
        if ($program->errors !== '' || $said === null) {
            throw new \RuntimeException("ended with {$program->status}: {$program->errors}{$program->output}");
        }
        return new self($program->status, $said['health'], $said['findings']);
    }

    /** @return array{subject: string, health: string, seen: string, remedy: ?string} the worst about it */
    public function about(string $subject): array
    {
        $found = array_filter($this->findings, static fn (array $finding): bool => $finding['subject'] === $subject);
        $order = ['error' => 0, 'warning' => 1, 'ok' => 2];
        usort($found, static fn (array $a, array $b): int => $order[$a['health']] <=> $order[$b['health']]);
        return $found[0] ?? throw new \RuntimeException("nothing about $subject in $this");
    }

    /** @return string[] of all findings that are not ok */
    public function subjectsInNeed(): array
    {
        $needs = array_filter($this->findings, static fn (array $finding): bool => $finding['health'] !== 'ok');
        return array_values(array_column($needs, 'subject'));
    }

    /** One line for each finding that is not ok. */
    public function __toString(): string
    {
        $lines = '';
        foreach ($this->findings as ['subject' => $subject, 'health' => $health, 'seen' => $seen, 'remedy' => $remedy]) {
            $lines .= $health === 'ok' ? '' : "$health: $subject: $seen → $remedy\n";
        }
        return $lines;
    }
}
