<?php

declare(strict_types=1);

namespace App\Entity;

use Doctrine\ORM\Mapping as ORM;
use KeySieve\Adds\InSets;

#[ORM\Entity]
class Tag implements InSets
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    private int $id;

    #[ORM\Column]
    public int $views = 0;

    #[ORM\Column(enumType: Kind::class)]
    public Kind $kind = Kind::Plain;

    #[ORM\Column(nullable: true)]
    public ?\DateTimeImmutable $shownAt = null;

    #[ORM\ManyToOne]
    public ?Tag $parent = null;

    #[ORM\Embedded]
    public Size $size;

    public function __construct(#[ORM\Column(unique: true)] public string $name, #[ORM\Column] public bool $published = true)
    {
        $this->size = new Size();
    }

    public function keysInSets(): array
    {
        return $this->published ? ['tags' => mb_strtolower($this->name), 'ids' => $this->id ?? null] : [];
    }
}
