<?php

declare(strict_types=1);

namespace KeySieve\Tests\Docs;

use KeySieve\Membership;
use KeySieve\Tests\Support\Program;
use PHPUnit\Framework\TestCase;

/** The references hold all that the programs, the extension and the loader know. */
final class ReferencesTest extends TestCase
{
    public function testTheCommandLineHasEveryVerbAndOption(): void
    {
        $page = self::page('command_line');
        $parts = preg_split('/^## /m', $page);
        $commands = [['keysieved'], ...array_map(static fn (string $verb): array => ['keysieve', $verb], Help::verbs())];
        foreach ($commands as $command) {
            $part = current(preg_grep('/^' . implode(' ', $command) . '$/m', $parts));
            self::assertIsString($part, implode(' ', $command));
            foreach (Help::options(...$command) as $option) {
                self::assertMatchesRegularExpression('/<code>(\S*,)?' . $option . '[ ,<]/', $part, implode(' ', $command));
            }
        }
    }

    public function testPhpIniHasEverySettingWithItsDefault(): void
    {
        $page = self::page('ini');
        preg_match_all('/^\| `(.+?)` \| `(.*?)` \|/m', $page, $rows);
        // The extension without a php.ini, so that the values are the defaults.
        $code = 'echo json_encode((new ReflectionExtension("keysieve"))->getINIEntries());';
        exec('php8.2 -n -d extension=' . escapeshellarg(getenv('KEYSIEVE_EXTENSION')) . ' -r ' . escapeshellarg($code), $json);
        $documented = array_combine($rows[1], $rows[2]);
        $known = json_decode($json[0], true);
        ksort($documented);
        ksort($known);
        self::assertSame($known, $documented);
    }

    public function testTheReadmeHasTheSameSettings(): void
    {
        [, $table] = explode("\n\n|", self::page('ini'), 2);
        $rows = preg_grep('/^\| `/', explode("\n", $table));
        foreach ($rows as $row) {
            self::assertStringContainsString("\n$row\n", file_get_contents('README.md'));
        }
    }

    public function testTheLoadersPageHasEveryKeyThatItsParserKnows(): void
    {
        preg_match_all('/(?:take_setting\(\w+, |\.(?:parsed|require)\()"([a-z_]+)"/', self::sources('tools/loader/config*.cpp'), $known);
        self::assertContains('max_shrink', $known[1]);
        preg_match_all('/^### ([a-z_]+)$/m', self::page('loader'), $documented);
        self::assertSame([], array_diff($known[1], $documented[1]));
        self::assertSame([], array_diff($documented[1], $known[1]));
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

    public function testThePrimersPlotIsWhatPlanDraws(): void
    {
        $plot = tempnam(sys_get_temp_dir(), 'plot') . '.svg';
        Program::output([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'plan', '--keys', '80000', '--fpr', '0.01', '--svg', $plot]);
        self::assertFileEquals($plot, 'docs/primer/plan.svg', 'draw it anew with the command of docs/primer.md');
    }

    public function testThePrimersBitsPerKeyAreMeasured(): void
    {
        preg_match_all('/^\|[^|]+\| `(\w+)`[^|]* \| ([\d.]+) \|/m', file_get_contents('docs/primer.md'), $told);
        preg_match_all('/^\| 1\.00 % \| `(\w+)` \| 4 KiB \|[^|]+\| ([\d.]+) \|/m', file_get_contents('docs/filters.md'), $measured);
        $measured = array_combine($measured[1], $measured[2]);
        self::assertCount(4, $told[1]);
        foreach (array_combine($told[1], $told[2]) as $kind => $bits) {
            self::assertEqualsWithDelta((float) $measured[$kind], (float) $bits, 0.06, $kind);
        }
    }

    /** @return string[] as they stand in the page */
    private static function namesOf(\ReflectionClass $class): array
    {
        $isOwn = static fn ($member): bool => $member->getDeclaringClass() == $class && $member->isPublic();
        $name = static fn ($member): string => $member->getName();
        $methods = array_filter($class->getMethods(), static fn ($method): bool => $isOwn($method) && !$class->isEnum());
        $properties = array_filter($class->getProperties(), static fn ($property): bool => $isOwn($property) && !$class->isEnum());
        return [
            ...array_map(static fn ($method): string => "### {$name($method)}()", $methods),
            ...array_map(static fn ($property): string => "\${$name($property)}</code>", $properties),
            ...array_map(static fn ($case): string => "<code>{$name($case)}</code>", $class->getReflectionConstants()),
        ];
    }

    private static function page(string $name): string
    {
        return file_get_contents("build/docs/docs/reference/$name.md");
    }

    private static function sources(string $pattern): string
    {
        return implode('', array_map(file_get_contents(...), glob($pattern)));
    }
}
