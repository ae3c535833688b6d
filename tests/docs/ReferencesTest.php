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

    public function testPhpIniHasEverySettingWithItsDefault(): void
    {
        $page = self::page('ini');
        preg_match_all('/^\| `(.+?)` \| `(.*?)` \|/m', $page, $rows);
        // The extension without a php.ini, so that the values are the defaults.
        $code = 'echo json_encode((new ReflectionExtension("keysieve"))->getINIEntries());';
        $extension = escapeshellarg(getenv('KEYSIEVE_EXTENSION'));
        exec("php8.2 -n -d extension=$extension -r " . escapeshellarg($code), $json);
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
        $parser = self::sources('tools/loader/config/*.cpp');
        preg_match_all('/(?:take_setting\(\w+, |\.(?:parsed|require)\()"([a-z_]+)"/', $parser, $known);
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
        $keysieve = getenv('KEYSIEVE_BIN_DIR') . '/keysieve';
        Program::output([$keysieve, 'plan', '--keys', '80000', '--fpr', '0.01', '--svg', $plot]);
        self::assertFileEquals($plot, 'docs/primer/plan.svg', 'draw it anew by the command of docs/primer.md');
    }

    public function testThePrimersBitsPerKeyAreMeasured(): void
    {
        $primer = file_get_contents('docs/primer.md');
        $filters = file_get_contents('docs/filters.md');
        preg_match_all('/^\|[^|]+\| `(\w+)`[^|]* \| ([\d.]+) \|/m', $primer, $told);
        preg_match_all('/^\| 1\.00 % \| `(\w+)` \| 4 KiB \|[^|]+\| ([\d.]+) \|/m', $filters, $measured);
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
        return implode('', array_map(file_get_contents(...), glob($pattern)));
    }
}
