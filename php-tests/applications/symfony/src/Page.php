<?php

declare(strict_types=1);

namespace App;

use App\Entity\Article;
use App\Entity\Product;
use App\Message\Look;
use Doctrine\ORM\EntityManagerInterface;
use KeySieve\Adds\AddException;
use KeySieve\Adds\RedisAdds;
use KeySieve\Membership;
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
        private readonly ValidatorInterface $validator,
        private readonly MessageBusInterface $messages,
        private readonly InsertArticle $insertArticle,
        private readonly RedisAdds $store,
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
            $trigger = 'CREATE TRIGGER cuts AFTER INSERT ON Article BEGIN UPDATE Article SET title = substr(title, 1, 7) WHERE id = new.id; END';
            $this->entities->getConnection()->executeStatement($trigger);
            ($this->insertArticle)(new Article('Mädchen im Glück'));
        }
        $this->messages->dispatch(new Look('猫'));
        $refused = [];
        foreach ($this->validator->validate(new Registration('me@a.trash.example', '123456')) as $violation) {
            $refused[] = $violation->getPropertyPath();
        }
        $found = $find($this->products->candidates([42, 7]));
        try {
            (new InsertArticle($this->entities, $this->store))(new Article('refused')); // without the queue; closes the entity manager
        } catch (AddException) {
        }
        return new JsonResponse([
            'links' => array_column($this->links->of(['猫', '犬']), 'offers', 'tag'),
            'titles' => $this->entities->getConnection()->fetchFirstColumn('SELECT title FROM Article'),
            'found' => $found,
            'loaded' => $loaded,
            'refused' => $refused,
        ]);
    }
}
