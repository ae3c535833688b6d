<?php

declare(strict_types=1);

namespace App\Entity;

use Doctrine\ORM\Mapping as ORM;
use KeySieve\Adds\InSets;

#[ORM\Entity]
class Page implements InSets
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    private int $id;

    #[ORM\Column(insertable: false, updatable: false, generated: 'ALWAYS', columnDefinition: 'TEXT GENERATED ALWAYS AS (lower(title))')]
    public ?string $slug = null;

    public function __construct(#[ORM\Column] public string $title)
    {
    }

    public function keysInSets(): array
    {
        return ['pages' => $this->slug];
    }
}
