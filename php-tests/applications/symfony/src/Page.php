<?php

declare(strict_types=1);

namespace App;

use App\Entity\Article;
use Doctrine\DBAL\ArrayParameterType;
use Doctrine\ORM\EntityManagerInterface;
use KeySieve\Adds\AddException;
use KeySieve\Adds\RedisAdds;
use KeySieve\Membership;
use KeySieve\Reader\Settings;
use KeySieve\SeenKeys;
use KeySieve\Symfony\NotBreached;
use KeySieve\Symfony\NotDisposable;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\Validator\Validator\ValidatorInterface;

/** Everything of the package in one page. */
final class Page
{
    public function __construct(
        private readonly TagLinks $links,
        private readonly Membership $products,
        private readonly SeenKeys $clicks,
        private readonly EntityManagerInterface $entities,
        private readonly ValidatorInterface $validator,
        private readonly InsertArticle $insertArticle,
        private readonly RedisAdds $store,
    ) {
    }

    public function __invoke(): Response
    {
        $loaded = [];
        $connection = $this->entities->getConnection();
        $find = static function (array $ids) use (&$loaded, $connection): array {
            $loaded[] = $ids;
            return $connection->fetchAllKeyValue('SELECT id, name FROM products WHERE id IN (?)', [$ids], [ArrayParameterType::INTEGER]);
        };
        if (!$connection->createSchemaManager()->tablesExist(['products'])) {
            $connection->executeStatement('CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)');
            $connection->insert('products', ['id' => 42, 'name' => 'Cat food']);
            $connection->executeStatement('CREATE TRIGGER cuts AFTER INSERT ON Article BEGIN UPDATE Article SET title = substr(title, 1, 7) WHERE id = new.id; END');
            ($this->insertArticle)(new Article('Mädchen im Glück'));
        }
        $registration = new class ('me@a.trash.example', '123456') {
            public function __construct(#[NotDisposable] public readonly string $email, #[NotBreached] public readonly string $password)
            {
            }
        };
        $refused = [];
        foreach ($this->validator->validate($registration) as $violation) {
            $refused[$violation->getPropertyPath()] = $violation->getMessage();
        }
        $found = $find($this->products->candidates([42, 7]));
        try {
            (new InsertArticle($this->entities, $this->store))(new Article('refused')); // without the queue; closes the entity manager
        } catch (AddException) {
        }
        return new JsonResponse([
            'links' => array_column($this->links->of(['猫', '犬']), 'offers', 'tag'),
            'titles' => $connection->fetchFirstColumn('SELECT title FROM Article'),
            'found' => $found,
            'loaded' => $loaded,
            'refused' => $refused,
            'source' => get_debug_type(Settings::sourceOf('shop')),
            'clicks' => $this->clicks::class,
        ]);
    }
}
