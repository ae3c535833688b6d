<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Keys\DomainKey;
use KeySieve\Keys\KeyedSet;
use KeySieve\Keys\PasswordKey;
use KeySieve\Membership;
use KeySieve\Set;
use KeySieve\Testing\ListedKeys;
use KeySieve\Tests\Support\SharedMemory;
use KeySieve\Tests\Support\TestCase;
use KeySieve\Validation\BreachedPasswords;
use KeySieve\Validation\DisposableDomains;
use PHPUnit\Framework\Attributes\DataProvider;

/** Lists of what nobody should use: a set that cannot be asked refuses nobody. */
final class ValidationTest extends TestCase
{
    /** @return iterable<string, array{string, string[]}> an address, and the domains that are asked for it, in one call */
    public static function addresses(): iterable
    {
        yield 'a domain' => ['me@Example.ORG', ['example.org']];
        yield 'a subdomain' => ['me@a.b.example.org', ['a.b.example.org', 'b.example.org', 'example.org']];
        yield 'a dot at the end' => ['me@example.org.', ['example.org']];
        yield 'hyphens in third and fourth place' => ['me@ab--cd.example.org', ['ab--cd.example.org', 'example.org']];
        yield 'an empty label' => ['me@a..example.org', []];
        yield 'as long as a label may be' => ['me@' . str_repeat('a', 63) . '.org', [str_repeat('a', 63) . '.org']];
        yield 'longer' => ['me@' . str_repeat('a.', 30_000) . 'org', []];
        yield 'a space' => ['me@exam ple.org', []];
        yield 'a name' => ['Bob <me@example.org>', ['example.org']];
        yield 'a name with a bracket, and spaces' => [' "B < ob" < me@example.org > ', ['example.org']];
        yield 'spaces around it' => [" me@example.org\u{a0}\n", ['example.org']];
        yield 'two addresses' => ['<me@example.org> <you@example.net>', ['example.net']];
        yield 'a bracket without its other' => ['me@example.org>', []];
        yield 'an @ in quotes' => ['"a@b.example"@example.org', ['example.org']];
        yield 'a top-level domain alone' => ['me@example', []];
        yield 'not a domain' => ['me@', []];
        yield 'no address' => ['me', []];
        yield 'nothing' => ['', []];
    }

    /** @param string[] $domains */
    #[DataProvider('addresses')]
    public function testADomainAndItsParentsAreLookedUp(string $address, array $domains): void
    {
        $asked = [];
        $list = new DisposableDomains(new ListedKeys($domains), function (array $candidates) use (&$asked): bool {
            $asked[] = $candidates;
            return false;
        });
        self::assertFalse($list->has($address));
        self::assertSame($domains === [] ? [] : [$domains], $asked);
        foreach ($domains as $domain) {
            self::assertTrue((new DisposableDomains(new ListedKeys([$domain])))->has($address));
        }
        self::assertFalse((new DisposableDomains(new ListedKeys(['org', 'other.example'])))->has($address));
    }

    public function testTheExactListHasTheLastWord(): void
    {
        $list = new DisposableDomains(new ListedKeys(['honest.example', 'trash.example']), static fn (array $domains): bool => in_array('trash.example', $domains, true));
        self::assertTrue($list->has('me@a.trash.example'));
        self::assertFalse($list->has('me@honest.example'));
    }

    /** @return iterable<string, array{string, ?bool}> a set that cannot be asked, and whether it throws */
    public static function unavailableSets(): iterable
    {
        foreach (['missing', 'other-rules', 'bypassed-list'] as $name) {
            yield "$name, maybe" => [$name, false];
            yield "$name, throws" => [$name, true];
        }
    }

    #[DataProvider('unavailableSets')]
    public function testASetThatCannotBeAskedRefusesNobody(string $name, bool $throws): void
    {
        SharedMemory::put('other-rules', [PasswordKey::of('123456'), 'trash.example'], ['--key-profile', 'raw']);
        SharedMemory::put('bypassed-list', [PasswordKey::of('123456'), 'trash.example'], ['--key-profile', 'x']);
        SharedMemory::bypass('bypassed-list');
        $set = new Set($name, 'x', $throws);
        $wrap = function (Membership $set): Membership { // as an application's own decorator
            $wrapped = $this->createStub(Membership::class);
            foreach (['mayContain', 'mayContainMany', 'candidates'] as $method) {
                $wrapped->method($method)->willReturnCallback([$set, $method]);
            }
            return $wrapped;
        };
        foreach ([$set, $wrap($set)] as $list) {
            self::assertFalse((new BreachedPasswords($list))->has('123456'));
            self::assertFalse((new DisposableDomains($list))->has('me@trash.example'));
        }
        self::assertFalse((new DisposableDomains($wrap(new KeyedSet($name, DomainKey::class, $throws))))->has('me@trash.example'));
        $isListed = static fn (array $domains): bool => $domains === ['a.trash.example', 'trash.example'];
        self::assertTrue((new DisposableDomains($set, $isListed))->has('me@a.trash.example'), 'the exact list decides');
    }

    public function testASetThatComesIsNotTakenForAListOfAll(): void
    {
        $passwords = [new BreachedPasswords(new Set('coming', PasswordKey::profile())), new BreachedPasswords(new KeyedSet('coming', PasswordKey::class))];
        $domains = [new DisposableDomains(new Set('coming-too', DomainKey::profile())), new DisposableDomains(new KeyedSet('coming-too', DomainKey::class))];
        $refused = static fn (string $password, string $address): array => [
            ...array_map(static fn (BreachedPasswords $list): bool => $list->has($password), $passwords),
            ...array_map(static fn (DisposableDomains $list): bool => $list->has($address), $domains),
        ];
        self::assertNotContains(true, $refused('honest', 'me@honest.example'));
        SharedMemory::put('coming', [PasswordKey::of('123456')], ['--key-profile', PasswordKey::profile()]);
        SharedMemory::put('coming-too', ['trash.example'], ['--key-profile', DomainKey::profile()]);
        self::assertSoon(static function () use ($refused): bool {
            self::assertNotContains(true, $refused('honest', 'me@honest.example'));
            return !in_array(false, $refused('123456', 'me@trash.example'), true);
        });
    }
}
