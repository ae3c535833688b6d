<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** An nginx that hands every request to a page of a php-fpm. Ends with the object. */
final class Nginx
{
    public readonly string $url;
    private readonly Folder $folder;
    private readonly Background $process;

    /** @param string $locations more of them, for the same server */
    public function __construct(FpmPool $pool, string $locations = '')
    {
        $this->folder = new Folder('nginx');
        $address = stream_socket_get_name(stream_socket_server('tcp://127.0.0.1:0'), false);
        $this->url = "http://$address/";
        $user = posix_geteuid() === 0 ? 'user root;' : '';
        file_put_contents("{$this->folder}/nginx.conf", <<<CONF
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

            CONF);
        $program = array_values(array_filter(['/usr/sbin/nginx', '/usr/local/sbin/nginx'], is_executable(...)))[0] ?? 'nginx';
        $command = [$program, '-c', "{$this->folder}/nginx.conf", '-e', "{$this->folder}/log"];
        $this->process = new Background($this->folder, $command);
        $this->process->awaitListening("tcp://$address");
    }

    public function log(): string
    {
        return file_get_contents("{$this->folder}/log");
    }
}
