<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Build\Builder;
use KeySieve\Build\WrongKeys;
use KeySieve\Keys\BuiltIn;
use KeySieve\Keys\DomainKey;
use KeySieve\Keys\IntegerKey;
use KeySieve\Keys\KeyFunction;
use KeySieve\Keys\PasswordHashKey;
use KeySieve\Keys\PasswordKey;
use KeySieve\Tests\Support\Folder;
use KeySieve\Tests\Support\Program;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** The built-in key functions, and that `keysieve build` has their rules. */
final class KeyFunctionTest extends TestCase
{
    private const SHA1 = '7C4A8D09CA3762AF61E59520943DC26494F8941B';
    private const CHARACTERS = ['a', 'Z', '0', '1', '9', '-', '_', '.', '.', '*', '@', '/', ':', '+', ' ', "\t", "\n", '%', "'", 'é', '。', "\u{a0}", "\xff", 'F', '<'];
    private const WHOLE = ['example', 'com', 'xn--mll-hoa', 'müll', '42', '18446744073709551615', self::SHA1, '-', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'];

    /** @return iterable<string, array{class-string<KeyFunction>, array<string, ?string>}> */
    public static function functions(): iterable
    {
        yield 'domains' => [DomainKey::class, [
            " Example.ORG.\n" => 'example.org', "\u{3000}a.example\u{a0}" => 'a.example', '*.example' => null, 'me@a.example' => null,
            'https://a.example/' => null, 'a.example/path' => null, 'a.example:80' => null, 'a.example>' => null, '' => null,
            'ab--cd.example' => 'ab--cd.example', '-a.b-.example' => '-a.b-.example', 'xn--a-.example' => 'xn--a-.example', 'a_b.example' => 'a_b.example',
            str_repeat('a', 64) . '.example' => null, 'a..example' => null, '.example' => null, '.' => null, 'ex ample' => null, '[192.0.2.1]' => null,
        ]];
        yield 'numbers' => [IntegerKey::class, [
            '42' => '42', '042' => '42', '+42' => '42', " 42\n" => '42', '-42' => '-42', '-0' => '0', '000' => '0', '18446744073709551615' => '18446744073709551615',
            '4.2' => null, '1e3' => null, '42abc' => null, '' => null, '+-1' => null, '184467440737095516150' => null,
        ]];
        yield 'hashes' => [PasswordHashKey::class, [
            self::SHA1 => self::SHA1, strtolower(self::SHA1) => self::SHA1, self::SHA1 . ":42\r\n" => self::SHA1, self::SHA1 . '0' => null, '123456' => null,
        ]];
        yield 'passwords' => [PasswordKey::class, ['123456' => self::SHA1, ' 123456' => strtoupper(sha1(' 123456'))]];
    }

    /**
     * @param class-string<KeyFunction> $function
     * @param array<?string> $keys by raw value
     */
    #[DataProvider('functions')]
    public function testMakesKeysOfRawValues(string $function, array $keys): void
    {
        $raw = array_map(strval(...), array_keys($keys));
        self::assertSame(array_values($keys), array_map($function::of(...), $raw));
    }

    /** @return iterable<string, array{class-string<KeyFunction>}> */
    public static function builtIn(): iterable
    {
        foreach ([DomainKey::class, IntegerKey::class, PasswordHashKey::class] as $function) {
            yield $function::profile() => [$function];
        }
    }

    /** @param class-string<KeyFunction> $function */
    #[DataProvider('builtIn')]
    public function testKeysieveBuildRefusesWhatTheKeyFunctionWouldChange(string $function): void
    {
        $folder = new Folder('profiles');
        $keys = self::randomKeys(3_000, $function);
        $made = array_filter(array_map(static fn (string $raw): mixed => self::of($function, $raw), $keys), is_string(...));
        self::assertSame($made, array_map($function::of(...), $made), 'a key is its own key');
        $allowed = array_filter($keys, static fn (string $key): bool => self::of($function, $key) === $key);
        self::assertGreaterThan(300, count($allowed));
        self::assertGreaterThan(300, count($keys) - count($allowed));
        $build = static function (array $list) use ($folder, $function): Program {
            file_put_contents("$folder/keys", implode('', array_map(static fn (string $key): string => "$key\0", $list)));
            $settings = ['--set', 'words', '--key-profile', $function::profile(), '--allow-suspect-keys'];
            return Program::run([getenv('KEYSIEVE_BIN_DIR') . '/keysieve', 'build', ...$settings, '-0', "$folder/keys", '-o', "$folder/words.ks"]);
        };
        self::assertSame(0, $build($allowed)->status);
        self::assertStringContainsString('does not allow ' . number_format(count($keys) - count($allowed)) . ' keys: ', $build($keys)->errors);
        self::assertStringStartsWith('KEYSIEVE', (new Builder('words', keyProfile: $function::profile(), allowSuspectKeys: true))->add($allowed)->bytes());
        foreach (array_slice(array_diff_key($keys, $allowed), 0, 100) as $key) {
            $why = self::of($function, $key) === false ? [\LogicException::class, 'intl'] : [WrongKeys::class, $function::profile()];
            self::assertThrows($why[0], $why[1], static fn () => (new Builder('words', keyProfile: $function::profile()))->add([$key]));
        }
    }

    public function testAKeyProfileThatLooksLikeAClassMustBeAKeyFunction(): void
    {
        self::assertSame([true, false, false], array_map(BuiltIn::isFunction(...), [DomainKey::class, DomainKey::profile(), null]));
        foreach (['App\Mistyped', Builder::class] as $profile) {
            self::assertThrows(\InvalidArgumentException::class, $profile, static fn () => BuiltIn::isFunction($profile));
        }
    }

    /** @param class-string<KeyFunction> $function */
    private static function of(string $function, string $raw): string|false|null
    {
        try {
            return $function::of($raw);
        } catch (\LogicException) {
            return false; // needs intl, which is not here
        }
    }

    /**
     * Some are keys, some are nearly.
     *
     * @param class-string<KeyFunction> $function
     * @return list<string>
     */
    private static function randomKeys(int $count, string $function): array
    {
        $random = new \Random\Randomizer(new \Random\Engine\Xoshiro256StarStar(20_261_129));
        $of = static fn (array $values): string => $values[$random->getInt(0, count($values) - 1)];
        $keys = [];
        while (count($keys) < $count) {
            $key = '';
            for ($part = $random->getInt(0, 4); $part >= 0; --$part) {
                $key .= $of($random->getInt(0, 1) === 0 ? self::CHARACTERS : self::WHOLE);
            }
            $keys[] = $key;
            $keys[] = self::of($function, $key) ?: $key . $of(self::CHARACTERS);
            $keys[] = $of([strtoupper(sha1($key)), (string) crc32($key), substr_replace(sha1($key), $of(self::CHARACTERS), $random->getInt(0, 39), 1)]);
        }
        return $keys;
    }
}
