<?php

declare(strict_types=1);

namespace App;

use App\Entity\Product;
use App\Message\Look;
use Doctrine\ORM\EntityManagerInterface;
use KeySieve\Guard\GuardedCache;
use KeySieve\Guard\GuardedCachePool;
use KeySieve\Guard\GuardedFinder;
use KeySieve\Membership;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Cache\Psr16Cache;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Validator\Validator\ValidatorInterface;

/** Everything of the package in one page: a product that the set knows is not in the database, and is found once it is. */
final class Page
{
    public function __construct(
        private readonly TagLinks $links,
        private readonly Membership $products,
        private readonly EntityManagerInterface $entities,
        private readonly CacheItemPoolInterface $cache,
        private readonly ValidatorInterface $validator,
        private readonly MessageBusInterface $messages,
    ) {
    }

    public function __invoke(): Response
    {
        $loaded = [];
        $find = function (array $ids) use (&$loaded): array {
            $loaded[] = $ids;
            $found = [];
            foreach ($this->entities->getRepository(Product::class)->findBy(['id' => $ids]) as $product) {
                $found[$product->id] = $product->name;
            }
            return $found;
        };
        if ($this->entities->find(Product::class, 42) === null) {
            $this->entities->persist(new Product(42, 'Cat food'));
            $this->entities->flush();
        }
        $pool = new GuardedCachePool($this->cache, $this->products, 'product.');
        $simple = new GuardedCache(new Psr16Cache($this->cache), $this->products, 'product.');
        foreach ([42, 7] as $id) {
            $pool->save($pool->getItem("product.$id")->set("of $id"));
        }
        $this->messages->dispatch(new Look('猫'));
        $refused = [];
        foreach ($this->validator->validate(new Registration('me@a.trash.example', '123456')) as $violation) {
            $refused[] = $violation->getPropertyPath();
        }
        return new JsonResponse([
            'links' => array_column($this->links->of(['猫', '犬']), 'offers', 'tag'),
            'found' => (new GuardedFinder($this->products, $find))->findMany([42, 7]),
            'loaded' => $loaded,
            'simple' => [$simple->get('product.42'), $simple->get('product.7')],
            'refused' => $refused,
            'pool' => [$pool->getItem('product.42')->get(), $pool->getItem('product.7')->get()],
        ]);
    }
}
