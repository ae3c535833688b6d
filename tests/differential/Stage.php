<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Clock;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;

/** What all stories share: the clock, pairs of workers, one for each implementation, and sets that were built, since building takes longer than a story. */
final class Stage
{
    /** A set that is ready all the time. */
    public const COMPANION = 'companion';
    public const NOBODY = 65534;

    private const STORIES_PER_BUILD = 50;
    private const SETS_PER_BUILD = 3;
    private const STORIES_PER_PAIR = 200; // the extension keeps what it has mapped for each set

    /** Whether this process may change owners; then the workers are another user's. */
    public readonly bool $isRoot;
    public readonly Clock $clock;
    /** @var string[] */
    private readonly array $kinds;
    /** @var list<BuiltSet> */
    private array $built = [];
    private ?int $buildNumber = null;
    /** @var array<string, array{extension: Worker, package: Worker}> by settings */
    private array $pairs = [];
    /** @var array<string, int> */
    private array $stories = [];

    /** @param string $work a folder for files */
    public function __construct(private readonly string $work)
    {
        $this->isRoot = fileowner($work) === 0;
        $this->clock = new Clock();
        $this->kinds = SharedMemory::kinds();
        SharedMemory::putWithLayer(self::COMPANION, ['apple', '1', 'key 1', 'key 2', 'key 3']);
        Program::output(['chmod', '-R', 'a+rX', SharedMemory::folder(self::COMPANION)]);
    }

    /** @return list<BuiltSet> for a story */
    public function builtSets(int $seed): array
    {
        $number = intdiv($seed, self::STORIES_PER_BUILD);
        if ($number !== $this->buildNumber) {
            $this->buildNumber = $number;
            $random = new Random("sets $number");
            $this->built = [];
            for ($count = 0; $count < self::SETS_PER_BUILD; ++$count) {
                $this->built[] = BuiltSet::draw($random, $this->kinds, $this->work);
            }
        }
        return $this->built;
    }

    /** @return array{extension: Worker, package: Worker} for one more story */
    public function pair(array $settings): array
    {
        $name = serialize($settings);
        $this->stories[$name] ??= 0;
        if ($this->stories[$name]++ % self::STORIES_PER_PAIR === 0) {
            $this->pairs[$name] = ['extension' => $this->start('extension', $settings), 'package' => $this->start('package', $settings)];
        }
        return $this->pairs[$name];
    }

    /** @param array<string, string> $settings of php.ini */
    private function start(string $implementation, array $settings): Worker
    {
        $extensions = ['posix' => ini_get('extension_dir') . '/posix.so', 'keysieve' => getenv('KEYSIEVE_EXTENSION')];
        if ($implementation === 'package') {
            unset($extensions['keysieve']);
        }
        $command = [PHP_BINARY, '-n'];
        foreach (array_filter($extensions, is_file(...)) as $file) {
            array_push($command, '-d', "extension=$file");
        }
        $ini = array_diff_key($settings, ['open_basedir' => 0]) + [
            'keysieve.directory' => get_cfg_var('keysieve.directory'), 'display_errors' => '0', 'log_errors' => '1',
            'error_reporting' => '-1', 'zend.assertions' => '1', 'memory_limit' => '1G',
        ];
        foreach ($ini as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        array_push($command, __DIR__ . '/answer.php', ...array_filter([$settings['open_basedir'] ?? '']));
        $environment = ['KEYSIEVE_TEST_USER' => (string) ($this->isRoot ? self::NOBODY : 0)] + $this->clock->environment();
        return new Worker($implementation, $command, $environment);
    }
}
