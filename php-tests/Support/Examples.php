<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** The scripts of examples/, run as they are, with a database of their own. Ends with the object. */
final class Examples
{
    private const FOLDER = __DIR__ . '/../../examples';
    /** Debian's PHP has these as modules; elsewhere they are built in. igbinary: redis may need it. */
    private const MODULES = [
        'ctype', 'mbstring', 'tokenizer', 'posix', 'intl', 'dom', 'simplexml', 'pdo', 'pdo_sqlite', 'igbinary', 'redis',
    ];

    public readonly string $database;
    public readonly Folder $folder;
    /** @var array<string, string> */
    private readonly array $environment;

    /** @param array<string, string> $environment */
    public function __construct(array $environment = [])
    {
        $this->folder = new Folder('examples');
        $this->database = "{$this->folder}/examples.sqlite";
        $php = implode(' ', array_map(escapeshellarg(...), $this->interpreter()));
        $directory = '-d "keysieve.directory=$KEYSIEVE_DIRECTORY"'; // as a command may have set it
        file_put_contents("{$this->folder}/php", "#!/bin/sh\nexec $php $directory \"\$@\"\n");
        chmod("{$this->folder}/php", 0755);
        $this->environment = $environment + [
            'EXAMPLES_DB' => $this->database,
            'KEYSIEVE_DIRECTORY' => SharedMemory::directory(),
            'PATH' => $this->folder . ':' . getenv('KEYSIEVE_BIN_DIR') . ':' . getenv('PATH'),
        ];
    }

    public static function path(string $script): string
    {
        return realpath(self::FOLDER . "/$script");
    }

    /** @return string[] */
    public static function modules(): array
    {
        static $builtIn = null;
        $builtIn ??= explode("\n", strtolower(Program::output([PHP_BINARY, '-n', '-m'])));
        return array_values(array_diff(self::MODULES, $builtIn));
    }

    /** Makes the database, and publishes sets of it. */
    public function setUp(string ...$sets): void
    {
        $this->output('setup.php');
        $this->publish(...$sets);
    }

    public function publish(string ...$sets): void
    {
        $this->run('build.php', 'directory:' . SharedMemory::directory(), ...$sets);
    }

    /** Runs a script that must succeed without a word to standard error. */
    public function output(string $script, string ...$arguments): string
    {
        $program = $this->run($script, ...$arguments);
        if ($program->errors !== '') {
            throw new \RuntimeException("$script says: {$program->errors}");
        }
        return $program->output;
    }

    public function run(string $script, string ...$arguments): Program
    {
        return Program::succeed([...$this->interpreter(), self::path($script), ...$arguments], $this->environment);
    }

    public function start(string $script, string ...$arguments): Background
    {
        $command = [...$this->interpreter(), self::path($script), ...$arguments];
        return new Background($this->folder, $command, $this->environment);
    }

    /** Runs PHP code that can require the examples from FOLDER. */
    public function code(string $code): string
    {
        return Program::succeed([...$this->interpreter(), '-r', $this->folder() . $code], $this->environment)->output;
    }

    /** Changes the database. */
    public function query(string $sql): void
    {
        $sql = var_export($sql, true);
        $this->code("require FOLDER . '/Database.php'; (new App\Database())->rows($sql);");
    }

    /** A php-fpm with that page. */
    public function pool(string $page): FpmPool
    {
        $directives = [];
        foreach (preg_grep('/^EXAMPLES_/', array_keys($this->environment)) as $name) {
            $directives["env[$name]"] = $this->environment[$name];
        }
        return new FpmPool($page, ['pages' => $directives], settings: ['extension' => self::modules()]);
    }

    /** Runs commands in the folder of the examples. */
    public function shell(string $commands): Program
    {
        $commands = 'cd ' . escapeshellarg(self::path('.')) . "\n$commands";
        return Program::succeed(['bash', '-euo', 'pipefail', '-c', $commands], $this->environment);
    }

    private function folder(): string
    {
        return 'const FOLDER = ' . var_export(self::path('.'), true) . ";\n";
    }

    /** @return string[] */
    private function interpreter(): array
    {
        $command = PhpScript::interpreter(['apc.enable_cli' => '1']);
        foreach (self::modules() as $module) {
            array_push($command, '-d', "extension=$module");
        }
        return $command;
    }
}
