<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;

/** What `keysieve VERB --json` prints, of every verb and with every member that its schema knows. */
final class PrintedJson
{
    /** In a folder with lists; STORE is a store. */
    private const COMMANDS = <<<'TEXT'
        plan --keys 100 --fpr 1e-9
        build --set tags --known-absent absent keys -o both.ks
        build --set tags --like STORE keys -o tags.ks
        build --set numbers --values values -o numbers.ks
        keygen key
        keygen --show key
        build --set signed --sign-key key keys -o signed.ks
        inspect both.ks
        inspect tags.ks
        inspect numbers.ks
        inspect signed.ks
        inspect missing.ks
        verify tags.ks --keys keys --absent absent
        verify both.ks --keys keys --known-absent absent
        query --file numbers.ks numbers a zzz
        query --file tags.ks tags 1 zzz
        list STORE
        push both.ks STORE
        push --dry-run tags.ks STORE
        push tags.ks STORE
        pull tags STORE -o pulled.ks
        add tags new STORE
        bypass tags --store STORE --for 1h
        bypass --store STORE
        bypass --store STORE --show
        rollback tags --list STORE
        rollback tags --yes STORE
        list STORE
        seed STORE
        seed --new STORE
        delete tags --yes STORE
        publish tags.ks
        publish words.ks
        query tags 1
        bypass tags --for 1h
        bypass tags
        query tags 1
        doctor
        status
        TEXT;
    /** While a loader keeps a seen set. */
    private const OF_A_SEEN_SET = ['query clicks ada', 'status', 'bypass clicks --for 1h'];
    private const AFTER_IT = ['delete clicks --yes', 'delete clicks --yes --store STORE'];

    /** @var array<string, object[]> by the name of the schema */
    private array $printed = [];
    private readonly Folder $folder;

    private function __construct()
    {
        $this->folder = new Folder('json');
    }

    /** @return array<string, object[]> */
    public static function all(): array
    {
        static $all = null;
        return $all ??= (new self())->run();
    }

    /** @return array<string, object[]> */
    private function run(): array
    {
        $lists = ['keys' => implode("\n", range(1, 100)) . "\n", 'absent' => "a\nb\n1\n", 'values' => "a\t1\nb\t2\n"];
        foreach ($lists as $name => $text) {
            file_put_contents("$this->folder/$name", $text);
        }
        mkdir("$this->folder/store", 0700);
        mkdir("$this->folder/sets/empty", 0700, recursive: true);
        $this->print(...explode("\n", self::COMMANDS));

        $seen = "[[seen]]\nname = \"clicks\"\nkeys = 100\nwindow = \"1h\"\non_unavailable = \"new\"\n";
        $loader = new Loader([], "$this->folder/sets", settings: $seen);
        Deadline::reaches(fn (): bool => $this->keysieve('query clicks ada')->status === 1) || throw new \RuntimeException($loader->log());
        $this->print(...self::OF_A_SEEN_SET);
        unset($loader);
        $this->print(...self::AFTER_IT);
        return $this->printed;
    }

    private function print(string ...$commands): void
    {
        foreach ($commands as $command) {
            $program = $this->keysieve("$command --json");
            if ($program->output !== '') {
                $this->printed[strtok($command, ' ')][] = json_decode($program->output, false, flags: JSON_THROW_ON_ERROR);
            }
            foreach (array_filter(explode("\n", $program->errors)) as $line) {
                $this->printed['error'][] = json_decode($line, false, flags: JSON_THROW_ON_ERROR);
            }
        }
    }

    private function keysieve(string $command): Program
    {
        $command = "cd $this->folder && exec '" . getenv('KEYSIEVE_BIN_DIR') . "/keysieve' " . str_replace('STORE', "dir:$this->folder/store", $command);
        return Program::run(['sh', '-c', $command], ['KEYSIEVE_DIRECTORY' => "$this->folder/sets"]);
    }
}
