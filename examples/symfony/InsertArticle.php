<?php

// src/InsertArticle.php: the key is added before the commit. By the class that lookups use, from the row as the database has stored it.

declare(strict_types=1);

namespace App;

use App\Entity\Article;
use Doctrine\ORM\EntityManagerInterface;
use KeySieve\Adds\Adds;

final class InsertArticle
{
    public function __construct(
        private readonly EntityManagerInterface $entities,
        private readonly Adds $adds,
    ) {
    }

    public function __invoke(Article $article): void
    {
        $this->entities->wrapInTransaction(function () use ($article): void {
            $this->entities->persist($article);
            $this->entities->flush();
            $this->entities->refresh($article);
            $this->adds->add('encyclopedia', TagKey::of($article->title));
        });
    }
}
