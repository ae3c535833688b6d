<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

use KeySieve\Tests\Support\Clock;

/** Pairs of workers, one for each implementation. A pair serves many stories, all with the same settings. */
final class Workers
{
    private const STORIES_PER_PAIR = 200; // the extension keeps what it has mapped for each set

    /** @var array<string, array{extension: Worker, package: Worker}> by settings */
    private array $pairs = [];
    /** @var array<string, int> */
    private array $stories = [];

    /** @param int $user who runs them; 0: the user of this process */
    public function __construct(private readonly Clock $clock, private readonly int $user)
    {
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
        $environment = ['KEYSIEVE_TEST_USER' => (string) $this->user] + $this->clock->environment();
        return new Worker($implementation, $command, $environment);
    }
}
