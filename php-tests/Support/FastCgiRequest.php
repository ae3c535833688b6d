<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** One request to a FastCGI server: sent when made, so that several can be under way at once. */
final class FastCgiRequest
{
    private const BEGIN_REQUEST = 1;
    private const END_REQUEST = 3;
    private const PARAMS = 4;
    private const STDIN = 5;
    private const STDOUT = 6;
    private const STDERR = 7;

    private const SECONDS_TO_WAIT = 120;

    /** @var resource */
    private $connection;

    /**
     * @param string                $address    as of stream_socket_client()
     * @param array<string, string> $parameters that add to the usual ones
     */
    public function __construct(string $address, string $script, string $query = '', array $parameters = [])
    {
        $connection = @stream_socket_client($address, $code, $message, self::SECONDS_TO_WAIT);
        if ($connection === false) {
            throw new \RuntimeException("$address: $message");
        }
        stream_set_timeout($connection, self::SECONDS_TO_WAIT);
        $this->connection = $connection;
        $encoded = '';
        foreach ([
            'GATEWAY_INTERFACE' => 'CGI/1.1',
            'REQUEST_METHOD' => 'GET',
            'SCRIPT_FILENAME' => $script,
            'SCRIPT_NAME' => '/' . basename($script),
            'QUERY_STRING' => $query,
            'SERVER_PROTOCOL' => 'HTTP/1.1',
        ] + $parameters as $name => $value) {
            $encoded .= self::length($name) . self::length($value) . $name . $value;
        }
        $responder = pack('nCx5', 1, 0);
        fwrite($connection, self::record(self::BEGIN_REQUEST, $responder) . self::record(self::PARAMS, $encoded)
            . self::record(self::PARAMS, '') . self::record(self::STDIN, ''));
    }

    /** Waits for the answer; returns its body. */
    public function body(): string
    {
        $output = '';
        $errors = '';
        do {
            $header = unpack('Cversion/Ctype/nid/nlength/Cpadding', $this->read(8));
            $content = $this->read($header['length']);
            $this->read($header['padding']);
            match ($header['type']) {
                self::STDOUT => $output .= $content,
                self::STDERR => $errors .= $content,
                default => null,
            };
        } while ($header['type'] !== self::END_REQUEST);
        fclose($this->connection); // php-fpm waits for that
        [$headers, $body] = explode("\r\n\r\n", $output, 2) + [1 => ''];
        if ($errors !== '' || str_contains($headers, 'Status:')) {
            throw new \RuntimeException("$headers\n$errors\n$body");
        }
        return $body;
    }

    private function read(int $length): string
    {
        $bytes = $length === 0 ? '' : stream_get_contents($this->connection, $length);
        if (strlen((string) $bytes) !== $length) {
            $isLate = stream_get_meta_data($this->connection)['timed_out'];
            throw new \RuntimeException('the FastCGI server ' . ($isLate ? 'does not answer' : 'closed the connection'));
        }
        return $bytes;
    }

    private static function record(int $type, string $content): string
    {
        return pack('CCnnCx', 1, $type, 1, strlen($content), 0) . $content;
    }

    private static function length(string $text): string
    {
        return strlen($text) < 128 ? chr(strlen($text)) : pack('N', strlen($text) | 0x80000000);
    }
}
