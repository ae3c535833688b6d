<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** An nginx that hands every request to a page of a php-fpm. Ends with the object. */
final class Nginx
{
    public readonly string $url;
    private readonly string $folder;
    /** @var resource */
    private $process;

    /** @param string $locations more of them, for the same server */
    public function __construct(FpmPool $pool, string $locations = '')
    {
        $this->folder = sys_get_temp_dir() . '/keysieve-nginx-' . bin2hex(random_bytes(6));
        mkdir($this->folder, 0700);
        $probe = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($probe, false);
        fclose($probe);
        $this->url = "http://$address/";
        file_put_contents("{$this->folder}/nginx.conf", $this->configuration($address, $pool, $locations));
        $output = ['file', "{$this->folder}/output", 'w'];
        $this->process = proc_open(
            [self::program(), '-c', "{$this->folder}/nginx.conf", '-e', "{$this->folder}/log"],
            [['file', '/dev/null', 'r'], $output, $output],
            $pipes,
        );
        if (!Deadline::reaches(static fn (): bool => @stream_socket_client("tcp://$address") !== false)) {
            throw new \RuntimeException('nginx did not start: ' . file_get_contents("{$this->folder}/output"));
        }
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGTERM);
        proc_close($this->process);
        array_map('unlink', glob("{$this->folder}/*"));
        rmdir($this->folder);
    }

    public function log(): string
    {
        return file_get_contents("{$this->folder}/log");
    }

    private function configuration(string $address, FpmPool $pool, string $locations): string
    {
        $user = posix_geteuid() === 0 ? 'user root;' : '';
        return <<<CONF
            $user
            daemon off;
            worker_processes 1;
            pid {$this->folder}/pid;
            error_log {$this->folder}/log;
            events { worker_connections 256; }
            http {
              access_log off;
              client_body_temp_path {$this->folder}; fastcgi_temp_path {$this->folder};
              proxy_temp_path {$this->folder}; scgi_temp_path {$this->folder}; uwsgi_temp_path {$this->folder};
              keepalive_requests 1000000000;
              server {
                listen $address;
                $locations
                location / {
                  fastcgi_param SCRIPT_FILENAME {$pool->page};
                  fastcgi_param QUERY_STRING \$query_string;
                  fastcgi_param REQUEST_METHOD \$request_method;
                  fastcgi_read_timeout 300;
                  fastcgi_pass unix:{$pool->socket};
                }
              }
            }

            CONF;
    }

    private static function program(): string
    {
        foreach (['/usr/sbin/nginx', '/usr/local/sbin/nginx'] as $path) {
            if (is_executable($path)) {
                return $path;
            }
        }
        throw new \RuntimeException('nginx is not installed');
    }
}
