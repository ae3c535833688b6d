<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** One request to a FastCGI server by cgi-fcgi: sent when made, so that several can be under way at once. */
final class FastCgiRequest
{
    private const SECONDS_TO_WAIT = '120';

    private readonly Folder $folder;
    private readonly Background $client;

    /** @param array<string, string> $parameters that add to the usual ones */
    public function __construct(string $address, string $script, string $query = '', array $parameters = [])
    {
        $parameters += ['REQUEST_METHOD' => 'GET', 'SCRIPT_FILENAME' => $script, 'SCRIPT_NAME' => '/' . basename($script), 'QUERY_STRING' => $query];
        $assignments = array_map(static fn (string $name, string $value): string => "$name=$value", array_keys($parameters), $parameters);
        $this->folder = new Folder('request');
        $command = ['timeout', self::SECONDS_TO_WAIT, 'env', '-i', ...$assignments, 'cgi-fcgi', '-bind', '-connect', $address];
        $this->client = new Background($this->folder, $command, files: [2 => ['file', "$this->folder/errors", 'a']]);
    }

    /** Waits for the answer; returns its body. */
    public function body(): string
    {
        $status = $this->client->status();
        [$headers, $body] = explode("\r\n\r\n", $this->client->output(), 2) + [1 => ''];
        $errors = file_get_contents("$this->folder/errors");
        if ($status !== 0 || $errors !== '' || str_contains($headers, 'Status:')) {
            throw new \RuntimeException("cgi-fcgi ended with $status: $headers\n$errors\n$body");
        }
        return $body;
    }
}
