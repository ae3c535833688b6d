<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Membership;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SharedMemory;
use PHPUnit\Framework\TestCase;

/** The references hold all that the programs, the extension and the loader know. */
final class ReferencesTest extends TestCase
{
    public function testTheCommandLineHasEveryVerbAndOption(): void
    {
        $page = self::page('command_line');
        $parts = preg_split('/^## /m', $page);
        $ofVerbs = array_map(static fn (string $verb): array => ['keysieve', $verb], Help::verbs());
        foreach ([['keysieved'], ...$ofVerbs] as $command) {
            $name = implode(' ', $command);
            $part = current(preg_grep("/^$name$/m", $parts));
            self::assertIsString($part, $name);
            foreach (Help::options(...$command) as $option) {
                self::assertMatchesRegularExpression("/<code>(\S*,)?{$option}[ ,<]/", $part, $name);
            }
        }
    }

    public function testEveryFilterKindHasASectionWithItsId(): void
    {
        $page = file_get_contents('docs/filters.md');
        foreach (SharedMemory::kinds() as $kind) {
            $golden = file_get_contents("tests/golden/$kind.ks", length: 11);
            self::assertMatchesRegularExpression("/^## `$kind`\n\nId " . ord($golden[10]) . '; `hash_count` is /m', $page);
        }
    }

    public function testPhpIniHasEverySettingWithItsDefault(): void
    {
        $page = self::page('ini');
        preg_match_all('/^\| `(.+?)` \| `(.*?)` \|/m', $page, $rows);
        // The extension without a php.ini, so that the values are the defaults.
        $code = 'echo json_encode((new ReflectionExtension("keysieve"))->getINIEntries());';
        $extension = escapeshellarg(getenv('KEYSIEVE_EXTENSION'));
        exec(PHP_BINARY . " -n -d extension=$extension -r " . escapeshellarg($code), $json);
        $documented = array_combine($rows[1], $rows[2]);
        $known = json_decode($json[0], true);
        ksort($documented);
        ksort($known);
        self::assertSame($known, $documented);
    }

    public function testTheLoadersPageHasEveryKeyThatItsParserKnows(): void
    {
        $parser = self::sources('tools/loader/config/*.cpp');
        preg_match_all('/(?:take_setting\(\w+, |\.(?:parsed|parsed_list|require)\()"([a-z_]+)"/', $parser, $known);
        self::assertContains('max_shrink', $known[1]);
        preg_match_all('/^### ([a-z_]+)$/m', self::page('loader'), $documented);
        self::assertSame([], array_diff($known[1], $documented[1]));
        self::assertSame([], array_diff($documented[1], $known[1]));
    }

    public function testTheMetricsPageHasEveryMetricThatTheLoaderExports(): void
    {
        preg_match_all('/"(keysieve_\w+)"/', self::sources('tools/{status,loader/http}/*.cpp'), $exported);
        preg_match_all('/^\| <code>(.*?)<\/code> \|/m', self::page('metrics'), $documented);
        self::assertGreaterThan(40, count($exported[1]));
        self::assertEqualsCanonicalizing($exported[1], str_replace('&#95;', '_', $documented[1]));
    }

    public function testTheJsonPageHasEveryMember(): void
    {
        $page = self::page('json');
        foreach (glob('docs/schemas/*.json') as $path) {
            $schema = json_decode(file_get_contents($path), true);
            preg_match("/^## {$schema['title']}\n(.*?)(?=^## |\z)/ms", $page, $part);
            foreach (array_keys($schema['properties']) as $name) {
                self::assertStringContainsString('<code>' . str_replace('_', '&#95;', $name) . '</code>', $part[1] ?? '', $path);
            }
        }
    }

    public function testThePhpPageHasEveryNameOfTheExtension(): void
    {
        $page = self::page('php');
        $extension = new \ReflectionExtension('keysieve');
        foreach ($extension->getFunctions() as $function) {
            self::assertStringContainsString("\n### {$function->getShortName()}()\n", $page);
        }
        self::assertArrayHasKey(Membership::class, $extension->getClasses());
        foreach ($extension->getClasses() as $class) {
            preg_match("/^## {$class->getShortName()}\n(.*?)(?=^## |\z)/ms", $page, $part);
            self::assertNotEmpty($part, $class->getName());
            foreach (self::namesOf($class) as $name) {
                self::assertStringContainsString($name, $part[1], $class->getName());
            }
        }
    }

    public function testTheMemoryOfSeenSetsIsWhatTheLoaderSays(): void
    {
        preg_match('/^\| `fpr` \|((?: \d+ windows? \|)+)\n\|[-|]+\n((?:\| [\d.e-]+ \|.*\n)+)/m', file_get_contents('docs/seen_sets.md'), $table);
        preg_match_all('/(\d+) windows? \|/', $table[1] ?? '', $windows);
        $rows = explode("\n", trim($table[2] ?? ''));
        self::assertCount(6, $rows);
        foreach ($rows as $row) {
            $told = explode(' | ', trim($row, '| '));
            $measured = array_map(static fn (string $count): string => self::sizeOfSeenSet($told[0], $count), $windows[1]);
            self::assertSame([$told[0], ...$measured], $told);
        }
    }

    /** For a million keys per window: "35 bits, 8.5 MiB". */
    private static function sizeOfSeenSet(string $fpr, string $windows): string
    {
        $config = tempnam(sys_get_temp_dir(), 'seen') . '.toml';
        file_put_contents($config, "directory = \"/run/keysieve\"\n[[seen]]\nname = \"s\"\nkeys = \"1M\"\nwindow = \"5m\"\nwindows = $windows\nfpr = $fpr\n");
        $said = Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieved', '--check-config', '--config', $config]);
        self::assertSame(1, preg_match('/^seen s: .*?: ([\d.,]+ \w+), (\d+) bits per key/m', $said, $size), $said);
        return "$size[2] bits, $size[1]";
    }

    /** @return string[] as they stand in the page */
    private static function namesOf(\ReflectionClass $class): array
    {
        $isOwn = static fn ($member): bool => $member->getDeclaringClass() == $class && $member->isPublic();
        $name = static fn ($member): string => $member->getName();
        $methods = $class->isEnum() ? [] : array_filter($class->getMethods(), $isOwn);
        $properties = $class->isEnum() ? [] : array_filter($class->getProperties(), $isOwn);
        return [
            ...array_map(static fn ($method): string => "### {$name($method)}()", $methods),
            ...array_map(static fn ($property): string => "\${$name($property)}</code>", $properties),
            ...array_map(static fn ($it): string => "<code>{$name($it)}</code>", $class->getReflectionConstants()),
        ];
    }

    private static function page(string $name): string
    {
        return file_get_contents("build/docs/docs/reference/$name.md");
    }

    private static function sources(string $pattern): string
    {
        return implode('', array_map(file_get_contents(...), glob($pattern, GLOB_BRACE)));
    }
}
