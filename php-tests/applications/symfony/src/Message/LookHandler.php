<?php

declare(strict_types=1);

namespace App\Message;

use KeySieve\Membership;
use Symfony\Component\DependencyInjection\Attribute\Autowire;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

#[AsMessageHandler]
final class LookHandler
{
    public function __construct(private readonly Membership $articles, #[Autowire('%kernel.project_dir%/var/looked')] private readonly string $file)
    {
    }

    public function __invoke(Look $look): void
    {
        file_put_contents($this->file, "$look->tag: " . json_encode($this->articles->mayContain($look->tag)) . "\n", FILE_APPEND);
    }
}
