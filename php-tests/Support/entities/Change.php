<?php

declare(strict_types=1);

namespace App\Entity;

use Doctrine\ORM\Mapping as ORM;

/** A line of an audit log. SQL reserves its name. */
#[ORM\Entity, ORM\Table('changes')]
class Change
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    private int $id;

    public function __construct(#[ORM\Column] public string $of)
    {
    }
}
