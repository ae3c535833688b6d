<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use JsonSchema\Validator;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

require_once 'JsonSchema/autoload.php';

/** docs/schemas says what the programs print: its members, all of them, and nothing else. */
final class SchemasTest extends TestCase
{
    private const FOLDER = 'docs/schemas';

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
        self::assertArrayHasKey($name, PrintedJson::all());
        foreach (PrintedJson::all()[$name] as $printed) {
            $validator = new Validator();
            $validator->validate($printed, $schema);
            self::assertSame([], $validator->getErrors(), json_encode($printed, JSON_PRETTY_PRINT));
        }
    }

    #[DataProvider('schemas')]
    public function testItHasTheMembersThatArePrintedAndNoOthers(string $name): void
    {
        $printed = array_merge(...array_map(self::membersOf(...), PrintedJson::all()[$name] ?? []));
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
}
