<?php

declare(strict_types=1);

namespace KeySieve\Tests;

use KeySieve\Guard\GuardedCache;
use KeySieve\Guard\GuardedCachePool;
use KeySieve\Guard\GuardedFinder;
use KeySieve\Testing\ListedKeys;
use KeySieve\Tests\Support\Framework;
use KeySieve\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use Psr\Cache\CacheItemPoolInterface;
use Psr\SimpleCache\CacheInterface;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Adapter\TraceableAdapter;
use Symfony\Component\Cache\Psr16Cache;

/** What is guarded is not asked for keys that are absent, and is as before for all others: with the caches of Symfony and Laravel. */
#[Group('frameworks')]
final class GuardTest extends TestCase
{
    private TraceableAdapter $pool;

    public static function setUpBeforeClass(): void
    {
        require_once Framework::autoloader(Framework::symfony()[0]);
        require_once Framework::autoloader(Framework::laravel()[0]);
    }

    protected function setUp(): void
    {
        $this->pool = new TraceableAdapter(new ArrayAdapter());
    }

    /** @return iterable<string, array{\Closure(CacheItemPoolInterface): CacheInterface}> */
    public static function simpleCaches(): iterable
    {
        yield 'Symfony' => [static fn (CacheItemPoolInterface $pool): CacheInterface => new Psr16Cache($pool)];
        yield 'Laravel' => [static fn (): CacheInterface => new \Illuminate\Cache\Repository(new \Illuminate\Cache\ArrayStore())];
    }

    #[DataProvider('simpleCaches')]
    public function testASimpleCacheIsAskedOnlyForKeysThatMayExist(\Closure $make): void
    {
        $cache = $make($this->pool);
        $guarded = new GuardedCache($cache, new ListedKeys(['42', '43']), 'product.');
        self::assertTrue($guarded->setMultiple(['product.42' => 'Cat food', 'product.7' => 'hidden', 'page' => 'home'], 60));
        self::assertSame(['Cat food', 'none', 'home'], array_map(static fn (string $key) => $guarded->get($key, 'none'), ['product.42', 'product.7', 'page']));
        self::assertSame([true, false, true], array_map($guarded->has(...), ['product.42', 'product.7', 'page']));
        self::assertSame(
            ['product.7' => 'none', 'product.43' => 'none', 'product.42' => 'Cat food', 'page' => 'home'],
            self::listed($guarded->getMultiple(new \ArrayIterator(['product.7', 'product.43', 'product.42', 'page']), 'none')),
        );
        self::assertSame('hidden', $cache->get('product.7'), 'what writes goes through');
        $guarded->delete('product.42');
        $guarded->deleteMultiple(['page']);
        self::assertSame([false, false], [$cache->has('product.42'), $cache->has('page')]);
        $guarded->set('product.43', 'Scratching post');
        $guarded->clear();
        self::assertFalse($cache->has('product.43'));
    }

    public function testKeysThatAreNumbersKeepTheirPlaces(): void
    {
        $guarded = new GuardedCache(new Psr16Cache($this->pool), new ListedKeys(['42']), '');
        $guarded->set('42', 'Cat food');
        self::assertSame([7 => null, 42 => 'Cat food'], self::listed($guarded->getMultiple(['7', '42'])));
    }

    public function testNothingIsAskedWhenAllAreAbsent(): void
    {
        $simple = new GuardedCache(new Psr16Cache($this->pool), new ListedKeys([]), 'product.');
        $pool = new GuardedCachePool($this->pool, new ListedKeys([]), 'product.');
        self::assertNull($simple->get('product.1'));
        self::assertFalse($simple->has('product.1'));
        self::assertSame(['product.1' => 0, 'product.2' => 0], self::listed($simple->getMultiple(['product.1', 'product.2'], 0)));
        self::assertFalse($pool->getItem('product.1')->isHit());
        self::assertNull($pool->getItem('product.1')->get());
        self::assertFalse($pool->hasItem('product.1'));
        self::assertSame(['product.1', 'product.2'], array_keys(self::listed($pool->getItems(['product.1', 'product.2']))));
        self::assertSame([], $this->pool->getCalls());
    }

    public function testAPoolIsAskedOnceForKeysThatMayExist(): void
    {
        $guarded = new GuardedCachePool($this->pool, new ListedKeys(['42', '43']), 'product.');
        self::assertTrue($guarded->save($guarded->getItem('product.42')->set('Cat food')));
        self::assertTrue($guarded->saveDeferred($guarded->getItem('page')->set('home')));
        self::assertTrue($guarded->commit());
        $this->pool->clearCalls();

        $items = self::listed($guarded->getItems(['product.7', 'product.42', 'product.43', 'page']));
        self::assertSame(['product.7', 'product.42', 'product.43', 'page'], array_keys($items));
        self::assertSame(
            ['product.7' => [false, null], 'product.42' => [true, 'Cat food'], 'product.43' => [false, null], 'page' => [true, 'home']],
            array_map(static fn ($item): array => [$item->isHit(), $item->get()], $items),
        );
        self::assertSame(['getItems'], array_column($this->pool->getCalls(), 'name'));
        self::assertSame([true, false, true], array_map($guarded->hasItem(...), ['product.42', 'product.7', 'page']));
        $guarded->deleteItem('product.42');
        $guarded->deleteItems(['page']);
        self::assertSame([false, false], [$this->pool->hasItem('product.42'), $this->pool->hasItem('page')]);
    }

    /** @return iterable<string, array{string, mixed, bool}> how the item expires, and whether it has */
    public static function expiries(): iterable
    {
        yield 'never' => ['expiresAfter', null, false];
        yield 'in an hour' => ['expiresAfter', 3600, false];
        yield 'an hour ago' => ['expiresAfter', -3600, true];
        yield 'tomorrow' => ['expiresAt', new \DateTimeImmutable('+1 day'), false];
        yield 'yesterday' => ['expiresAt', new \DateTimeImmutable('-1 day'), true];
    }

    #[DataProvider('expiries')]
    public function testAnItemThatWasAbsentCanBeSaved(string $expires, mixed $when, bool $hasExpired): void
    {
        $guarded = new GuardedCachePool($this->pool, new ListedKeys([]), 'product.');
        $item = $guarded->getItem('product.7')->set('new')->$expires($when);
        self::assertSame(['product.7', 'new', false], [$item->getKey(), $item->get(), $item->isHit()]);
        self::assertTrue($guarded->save($item));
        self::assertFalse($guarded->hasItem('product.7'), 'until the set knows it');
        self::assertSame($hasExpired ? null : 'new', $this->pool->getItem('product.7')->get());
    }

    public function testAFinderIsAskedOnceForKeysThatMayExist(): void
    {
        $asked = [];
        $finder = new GuardedFinder(new ListedKeys(['42', '43', 'sku']), function (array $keys) use (&$asked): array {
            $asked[] = $keys;
            return array_intersect_key([42 => 'Cat food', 'sku' => 'Calendar'], array_flip($keys));
        });
        self::assertSame([42 => 'Cat food', 'sku' => 'Calendar'], $finder->findMany([7, 42, 'x' => 43, 'sku', 'other']));
        self::assertSame('Cat food', $finder->find('42'));
        self::assertNull($finder->find(43));
        self::assertNull($finder->find(7));
        self::assertSame([], $finder->findMany([7, 8]));
        self::assertSame([[42, 43, 'sku'], ['42'], [43]], $asked);
    }

    /** @return array<mixed> */
    private static function listed(iterable $values): array
    {
        return is_array($values) ? $values : iterator_to_array($values);
    }
}
