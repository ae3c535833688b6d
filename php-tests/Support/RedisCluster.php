<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

/** Two servers that share the keys. Ends with the object. */
final class RedisCluster
{
    /** @var RedisServer[] */
    public readonly array $nodes;

    public function __construct()
    {
        [$first, $second] = $this->nodes = [new RedisServer(isNode: true), new RedisServer(isNode: true)];
        $first->command('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
        $second->command('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
        $first->command('CLUSTER', 'MEET', '127.0.0.1', "$second->port", "$second->bus");
        foreach ($this->nodes as $node) {
            Deadline::reaches(static fn (): bool => str_contains($node->command('CLUSTER', 'INFO'), 'cluster_state:ok'));
        }
    }

    /** Asks the node that has the key. */
    public function command(string ...$words): string
    {
        return trim(Program::output(['redis-cli', '-c', '-p', "{$this->nodes[0]->port}", ...$words]));
    }
}
