<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Availability;
use KeySieve\Exception;
use KeySieve\Info;
use KeySieve\InvalidNameException;
use KeySieve\Map;
use KeySieve\SeenInfo;
use KeySieve\SeenSet;
use KeySieve\Set;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\PhpScript;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\SeenWindows;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use KeySieve\UnavailableException;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/** The classes as such: what they promise to those who hold one. */
final class ObjectsTest extends TestCase
{
    /** @return iterable<string, array{object}> */
    public static function objects(): iterable
    {
        SharedMemory::put('objects', ['apple']);
        yield 'Set' => [new Set('objects')];
        yield 'Map' => [new Map('objects')];
        yield 'Info' => [(new Set('objects'))->info()];
        yield 'SeenSet' => [new SeenSet('objects')];
        if (extension_loaded('keysieve')) {
            $windows = SeenWindows::open('objects');
            yield 'SeenInfo' => [(new SeenSet('objects'))->info()];
        }
    }

    #[DataProvider('objects')]
    public function testIsNeitherCopiedNorSerializedNorGivenMoreProperties(object $object): void
    {
        $class = $object::class;
        self::assertThrows(\Exception::class, "Serialization of '$class' is not allowed", static fn () => serialize($object));
        foreach (['O', 'C'] as $format) {
            $unserialize = static fn () => unserialize(sprintf('%s:%d:"%s":0:{}', $format, strlen($class), $class));
            self::assertThrows(\Exception::class, "Unserialization of '$class' is not allowed", $unserialize);
        }
        self::assertThrows(\Error::class, 'clone', static fn () => clone $object);
        self::assertThrows(\Error::class, "Cannot create dynamic property $class::\$extra", static fn () => $object->extra = 1);
    }

    #[Group('extension')]
    public function testThePackageSaysThatTheExtensionIsTooOldForIt(): void
    {
        $bootstrap = var_export(dirname(__DIR__) . '/php/bootstrap.php', true);
        $loads = static fn (string $version): string => PhpScript::run(<<<PHP
            eval('namespace KeySieve; function phpversion(): string { return "$version"; }');
            require $bootstrap;
            try {
                echo KeySieve\\Keys\\IntegerKey::of('042');
            } catch (LogicException \$tooOld) {
                echo \$tooOld->getMessage();
            }
            PHP)->output;
        self::assertStringContainsString('needs the extension keysieve 0.1 or later, or none, not 0.0.9', $loads('0.0.9'));
        self::assertSame(['42', '42'], [$loads('0.1.0'), $loads('0.2.0')]);
        $conflicts = json_decode((string) file_get_contents(dirname(__DIR__) . '/php/composer.json'), true)['conflict'];
        self::assertSame('<0.1', $conflicts['ext-keysieve']);
    }

    /** As by two applications, and by a container that was compiled elsewhere. */
    public function testFilesOfThePackageMayBeIncludedAgain(): void
    {
        $folder = new Folder('copies');
        Program::output(['cp', '-r', dirname(__DIR__) . '/php', "$folder/copy"]);
        SharedMemory::put('objects', ['apple']);
        $script = PhpScript::run(<<<PHP
            foreach (['copy', 'copy/../copy'] as \$copy) {
                require "$folder/\$copy/bootstrap.php";
            }
            foreach (glob("{$folder}/copy/src/[A-Z]*.php") as \$file) {
                include_once \$file;
            }
            \$found = (new Set('objects'))->candidates(['apple', 'stone']) === ['apple'] && KeySieve\\may_contain('objects', 'apple');
            echo json_encode([\$found, class_exists(KeySieve\\Keys\\DomainKey::class), count(spl_autoload_functions())]);
            PHP);
        self::assertSame('[true,true,1]', $script->output, $script->errors);
    }

    #[Group('extension')]
    public function testThePackageMayBePreloadedWhetherTheExtensionIsThereOrNot(): void
    {
        $preload = SharedMemory::directory() . '/preload.php';
        $folder = var_export(getenv('KEYSIEVE_PACKAGE') . '/src', true);
        file_put_contents($preload, "<?php array_map(opcache_compile_file(...), glob($folder . '/{,Adds/,Reader/}*.php', GLOB_BRACE));");
        $script = PhpScript::run('echo json_encode(KeySieve\\candidate_sets([], "apple"));', [
            ...PhpScript::opcache(),
            'opcache.enable_cli' => 1,
            'opcache.preload' => $preload,
            'opcache.preload_user' => posix_getpwuid(posix_geteuid())['name'],
        ]);
        self::assertSame('[]', $script->output, $script->errors);
    }

    #[Group('extension')]
    public function testASetEqualsOnlyItself(): void
    {
        $set = new Set('objects');
        self::assertTrue($set == $set);
        self::assertFalse($set == new Set('others'));
        self::assertFalse($set == new Set('objects'));
        self::assertFalse(new Map('objects') == new Map('objects'));
        self::assertFalse(new SeenSet('objects') == new SeenSet('objects'));
    }

    public function testOnlyASetMakesAnInfo(): void
    {
        foreach ([Info::class, SeenInfo::class] as $class) {
            self::assertThrows(\Error::class, "Call to private $class::__construct()", static fn () => new $class());
        }
    }

    #[DataProvider('objects')]
    public function testADumpShowsItsPropertiesAndNothingElse(object $object): void
    {
        $properties = substr(print_r(get_object_vars($object), true), strlen('Array'));
        self::assertSame($object::class . " Object$properties", print_r($object, true));
    }

    /** The bytes of a set and their seed are private, and error pages show what an exception carries. */
    public function testNothingThatShowsAnObjectShowsTheBytesOfItsSet(): void
    {
        SharedMemory::put('objects', ['apple']);
        $script = PhpScript::run(<<<'PHP'
            $set = new Set('objects', 'another profile', true);
            $map = new KeySieve\Map('objects');
            $map->get('apple', fn () => null);
            $set->info();
            var_dump($set, (array) $set, $set->info(), $map, (array) $map);
            var_export($set);
            var_export($map);
            debug_zval_dump($set, $map);
            try {
                $set->mayContainMany(['apple']);
            } catch (UnavailableException $exception) {
                print_r($exception);
            }
            PHP, ['zend.exception_ignore_args' => 0]);
        self::assertStringContainsString('another profile', $script->output);
        $objects = '/object\(KeySieve.Reader|KeySieve.Reader.\w+( Object|::__set_state)/';
        self::assertDoesNotMatchRegularExpression($objects, $script->output);
        self::assertLessThan(20_000, strlen($script->output));
    }

    public function testASetStaysWhatItWasConstructedWith(): void
    {
        $set = new Set('objects', 'raw', true);
        $map = new Map('objects', 'raw');
        $seen = new SeenSet('objects');
        foreach ([$set, $map, $seen] as $one) {
            foreach ([static fn () => $one->__construct('other'), static fn () => $one->name = 'other'] as $change) {
                self::assertThrows(\Error::class, 'Cannot modify readonly property ' . $one::class . '::$name', $change);
            }
        }
        self::assertSame(['name' => 'objects', 'keyProfile' => 'raw'], get_object_vars($set));
        self::assertSame(['name' => 'objects', 'keyProfile' => 'raw'], get_object_vars($map));
        self::assertSame(['name' => 'objects'], get_object_vars($seen));
        self::assertNull((new Set('objects'))->keyProfile ?? (new Map('objects'))->keyProfile);
    }

    public function testExceptionsOfTheExtensionHaveOneInterface(): void
    {
        $unavailable = new UnavailableException('tags', Availability::Missing, 'is not here');
        self::assertInstanceOf(Exception::class, $unavailable);
        self::assertSame(['tags', Availability::Missing, 'is not here'], [$unavailable->set, $unavailable->availability, $unavailable->getMessage()]);
        self::assertInstanceOf(Exception::class, new InvalidNameException());
        self::assertSame(Availability::Expired, Availability::from('expired'));
    }

    #[Group('extension')]
    public function testObjectsWithoutAConstructorCallAreRefused(): void
    {
        foreach ([Set::class, Map::class, Info::class, SeenSet::class, SeenInfo::class] as $class) {
            $make = (new \ReflectionClass($class))->newInstanceWithoutConstructor(...);
            self::assertThrows(\ReflectionException::class, $class, $make);
        }
    }

    /** An error handler that runs while a constructor's arguments are coerced sees objects that are not constructed yet. */
    #[Group('extension')]
    public function testObjectsSeenBeforeTheirConstructorHasRunAreRefused(): void
    {
        $script = PhpScript::run(<<<'PHP'
            $calls = [
                Set::class => ['mayContain' => ['a'], 'mayContainMany' => [['a']], 'candidates' => [['a']], 'availability' => [], 'info' => []],
                KeySieve\Map::class => ['get' => ['a', strlen(...)], 'getMany' => [['a'], count(...)], 'availability' => [], 'info' => []],
                KeySieve\SeenSet::class => ['addIfNew' => ['a'], 'addManyIfNew' => [['a']], 'mayContain' => ['a'], 'availability' => [], 'info' => []],
            ];
            set_error_handler(function () use ($calls) {
                $object = debug_backtrace(DEBUG_BACKTRACE_PROVIDE_OBJECT)[1]['object'];
                foreach ($calls[$object::class] as $method => $arguments) {
                    try {
                        $object->$method(...$arguments);
                        echo "answered\n";
                    } catch (Error $error) {
                        echo $error->getMessage(), "\n";
                    }
                }
                return true;
            });
            foreach (array_keys($calls) as $class) {
                try {
                    new $class(null);
                } catch (ValueError) {
                }
            }
            PHP);
        self::assertSame(
            str_repeat("KeySieve\\Set object is not initialized\n", 5)
                . str_repeat("KeySieve\\Map object is not initialized\n", 4)
                . str_repeat("KeySieve\\SeenSet object is not initialized\n", 5),
            $script->output,
        );
    }

    /** A stub is plain PHP where the extension is not loaded. */
    public function testIsWhatTheStubOfTheExtensionDeclares(): void
    {
        $script = __DIR__ . '/Support/describe.php';
        $stub = Program::output([PHP_BINARY, '-n', $script, dirname(__DIR__) . '/ext/keysieve.stub.php']);
        self::assertStringContainsString('mayContainMany', $stub);
        self::assertStringContainsString('addManyIfNew', $stub);
        self::assertStringContainsString('getMany', $stub);
        $package = [];
        if (!extension_loaded('keysieve')) {
            // PHP would make an int of a fraction before the package sees it.
            $stub = preg_replace('/^(?!KeySieve.(?:Membership|SeenKeys))(.*[( ])string\|int (?=\$key\b)/m', '$1string|int|float ', $stub);
            $package = glob(dirname(__DIR__) . '/php/src/*.php');
        }
        self::assertSame($stub, Program::output([...PhpScript::interpreter(), $script, ...$package]));
    }
}
