<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\SharedMemory;

/** One set, what happens to it, and what both implementations say of it after each step. All of it follows from the seed. */
final class Story
{
    private const MOST_STEPS = 7;
    private const SWITCHES = ['0', '1', '2', '"off"', '"On"', '"yes"', '"true"', 'foo', '""', '"no"', '" 1"', '-1', '0x1'];

    public int $questions = 0;

    private readonly string $set;
    /** @var array<string, string> of php.ini */
    private readonly array $settings;
    /** @var list<string> what was done */
    private array $steps = [];
    private readonly Random $random;
    private readonly SetHistory $history;
    private readonly Agreed $agreed;
    /** @var array{extension: Worker, package: Worker} */
    private readonly array $workers;
    private Question $asked;

    public function __construct(public readonly int $seed, private readonly Stage $stage)
    {
        $this->random = new Random("story $seed");
        $this->set = "s$seed";
        $this->settings = self::drawSettings($this->random);
        $isConfined = isset($this->settings['open_basedir']);
        $this->history = new SetHistory($this->random, $stage, $this->folder(), $stage->builtSets($seed), $isConfined);
        $this->agreed = new Agreed($this->set);
        $this->workers = $stage->pair($this->settings);
    }

    public function folder(): string
    {
        return SharedMemory::folder($this->set);
    }

    /** Until something is wrong. Returns what, and what led to it. */
    public function tell(): ?string
    {
        $finding = null;
        $questions = new Questions($this->random, $this->set, Stage::COMPANION);
        try {
            for ($left = 1 + $this->random->size(self::MOST_STEPS); $left > 0 && $finding === null; --$left) {
                $this->steps[] = $this->steps === [] ? $this->history->publishFresh() : $this->history->step();
                $asked = $questions->draw($this->history);
                if ($asked[0]->call === 'begin_request') {
                    $this->stage->clock->advance($this->random->between(1, 2));
                }
                $finding = $this->ask($asked);
            }
        } catch (Died $death) {
            $finding = $this->finding($this->asked, $death->getMessage());
        }
        return $finding;
    }

    /**
     * @param list<Question> $questions
     * @throws Died
     */
    private function ask(array $questions): ?string
    {
        foreach ($this->workers as $worker) {
            $worker->ask($questions);
        }
        $finding = null;
        foreach ($questions as $question) {
            $this->asked = $question;
            $answers = array_map(static fn (Worker $worker): array => $worker->nextAnswer(), $this->workers);
            ++$this->questions;
            $finding ??= $this->judge($question, $answers);
        }
        $logged = array_map(static fn (Worker $worker): array => ['returned' => $worker->newLogLines()], $this->workers);
        return $finding ?? $this->judge(new Question('error_log'), $logged);
    }

    /** @param array{extension: array<string, mixed>, package: array<string, mixed>} $answers */
    private function judge(Question $question, array $answers): ?string
    {
        $answers = $this->agreed->alike($question, $answers);
        $wrong = Comparison::difference($answers['extension'], $answers['package']);
        foreach ($answers as $implementation => $answer) {
            $isAboutTheSet = ($question->set[0] ?? '') === $this->set;
            $untruth = $isAboutTheSet ? $this->history->truth->violation($question, $answer) : null;
            $wrong = $untruth === null ? $wrong : "the $implementation lies: $untruth";
            $notices = preg_grep('/ Passing null to parameter /', $answer['notices'] ?? [], PREG_GREP_INVERT);
            $wrong = $notices === [] ? $wrong : "the $implementation lets PHP say: " . reset($notices);
        }
        return $wrong === null ? null : $this->finding($question, $wrong);
    }

    private function finding(Question $question, string $wrong): string
    {
        $settings = http_build_query($this->settings, '', ' ');
        $lines = ["seed $this->seed" . ($settings === '' ? '' : ", $settings")];
        foreach ($this->steps as $number => $step) {
            $lines[] = '  ' . $number + 1 . ". $step";
        }
        return implode("\n", [...$lines, "  {$question->describe()}", "  $wrong"]);
    }

    /** @return array<string, string> */
    private static function drawSettings(Random $random): array
    {
        return match ($random->weighted(['none' => 82, 'throw' => 10, 'owner' => 3, 'enabled' => 2, 'open_basedir' => 3])) {
            'none' => [],
            'throw' => ['keysieve.on_unavailable' => 'throw'],
            'owner' => ['keysieve.owner' => $random->of(['nobody', '54321', '0'])],
            'enabled' => ['keysieve.enabled' => $random->of(self::SWITCHES)],
            'open_basedir' => ['open_basedir' => SharedMemory::directory()],
        };
    }
}
