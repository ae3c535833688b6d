<?php

// app/Actions/InsertArticle.php: the key is added before the commit. By the class that lookups use, from the row as the database has
// stored it.

declare(strict_types=1);

namespace App\Actions;

use App\Models\Article;
use App\TagKey;
use Illuminate\Support\Facades\DB;
use KeySieve\Adds\Adds;

final class InsertArticle
{
    public function __construct(private readonly Adds $adds)
    {
    }

    public function __invoke(Article $article): void
    {
        DB::transaction(function () use ($article): void {
            $article->save();
            $article->refresh();
            $this->adds->add('encyclopedia', TagKey::of($article->title));
        });
    }
}
