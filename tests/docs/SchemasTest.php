<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use JsonSchema\Validator;
use KeySieve\Tests\Support\Deadline;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Loader;
use KeySieve\Tests\Support\Program;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

require_once 'JsonSchema/autoload.php';

/** docs/schemas says what the programs print: its members, all of them, and nothing else. */
final class SchemasTest extends TestCase
{
    private const FOLDER = 'docs/schemas';
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

    /** @var array<string, object[]> what `keysieve VERB --json` prints, by the name of the schema: of every verb, with every member that it knows */
    private static array $printed = [];

    public static function setUpBeforeClass(): void
    {
        $folder = new Folder('json');
        $lists = ['keys' => implode("\n", range(1, 100)) . "\n", 'absent' => "a\nb\n1\n", 'values' => "a\t1\nb\t2\n"];
        foreach ($lists as $name => $text) {
            file_put_contents("$folder/$name", $text);
        }
        mkdir("$folder/store", 0700);
        mkdir("$folder/sets/empty", 0700, recursive: true);
        self::print($folder, ...explode("\n", self::COMMANDS));

        $seen = "[[seen]]\nname = \"clicks\"\nkeys = 100\nwindow = \"1h\"\non_unavailable = \"new\"\n";
        $loader = new Loader([], "$folder/sets", settings: $seen);
        Deadline::reaches(static fn (): bool => self::keysieve($folder, 'query clicks ada')->status === 1) || throw new \RuntimeException($loader->log());
        self::print($folder, ...self::OF_A_SEEN_SET);
        unset($loader);
        self::print($folder, ...self::AFTER_IT);
    }

    /** @return iterable<string, array{string}> */
    public static function schemas(): iterable
    {
        chdir(__DIR__ . '/../..');
        foreach (glob(self::FOLDER . '/*.json') as $path) {
            $name = basename($path, '.json');
            if ($name !== 'snapshot') { // a part of others
                yield $name => [$name];
            }
        }
    }

    public function testEachVerbHasASchema(): void
    {
        $names = array_keys(iterator_to_array(self::schemas()));
        self::assertEqualsCanonicalizing(['error', ...Help::verbs()], $names);
    }

    #[DataProvider('schemas')]
    public function testItHoldsForAllThatIsPrinted(string $name): void
    {
        $schema = (object) ['$ref' => 'file://' . realpath(self::FOLDER) . "/$name.json"];
        self::assertArrayHasKey($name, self::$printed);
        foreach (self::$printed[$name] as $printed) {
            $validator = new Validator();
            $validator->validate($printed, $schema);
            self::assertSame([], $validator->getErrors(), json_encode($printed, JSON_PRETTY_PRINT));
        }
    }

    #[DataProvider('schemas')]
    public function testItHasTheMembersThatArePrintedAndNoOthers(string $name): void
    {
        $printed = array_merge(...array_map(self::membersOf(...), self::$printed[$name] ?? []));
        $known = self::membersOfSchema(self::schema("$name.json"));
        self::assertSame([], array_diff($printed, $known), 'not in the schema');
        self::assertSame([], array_diff($known, $printed), 'never printed');
    }

    /** @return string[] such as "sets.0.kind", with 0 for any element of an array */
    private static function membersOf(mixed $value, string $within = ''): array
    {
        $members = [];
        foreach (is_object($value) || is_array($value) ? (array) $value : [] as $name => $member) {
            $path = $within . (is_array($value) ? 0 : $name);
            array_push($members, ...(is_array($value) ? [] : [$path]), ...self::membersOf($member, "$path."));
        }
        return $members;
    }

    /** @return string[] the same of all that the schema describes */
    private static function membersOfSchema(object $schema, string $within = ''): array
    {
        $members = isset($schema->items) ? self::membersOfSchema($schema->items, "{$within}0.") : [];
        foreach ($schema->allOf ?? [] as $part) {
            array_push($members, ...self::membersOfSchema(self::schema($part->{'$ref'}), $within));
        }
        foreach ($schema->properties ?? [] as $name => $member) {
            array_push($members, $within . $name, ...self::membersOfSchema($member, "$within$name."));
        }
        return $members;
    }

    private static function schema(string $file): object
    {
        return json_decode(file_get_contents(self::FOLDER . "/$file"), false, flags: JSON_THROW_ON_ERROR);
    }

    private static function print(Folder $folder, string ...$commands): void
    {
        foreach ($commands as $command) {
            $program = self::keysieve($folder, "$command --json");
            if ($program->output !== '') {
                self::$printed[strtok($command, ' ')][] = json_decode($program->output, false, flags: JSON_THROW_ON_ERROR);
            }
            foreach (array_filter(explode("\n", $program->errors)) as $line) {
                self::$printed['error'][] = json_decode($line, false, flags: JSON_THROW_ON_ERROR);
            }
        }
    }

    private static function keysieve(Folder $folder, string $command): Program
    {
        $command = "cd $folder && exec '" . getenv('KEYSIEVE_BIN_DIR') . "/keysieve' " . str_replace('STORE', "dir:$folder/store", $command);
        return Program::run(['sh', '-c', $command], ['KEYSIEVE_DIRECTORY' => "$folder/sets"]);
    }
}
