<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Queue\Queueable;

final class Look implements ShouldQueue
{
    use Queueable;

    public function __construct(public readonly string $tag)
    {
    }

    public function handle(): void
    {
        $answer = json_encode(app('keysieve.encyclopedia')->mayContain($this->tag));
        file_put_contents(storage_path('looked'), "$this->tag: $answer\n", FILE_APPEND);
    }
}
