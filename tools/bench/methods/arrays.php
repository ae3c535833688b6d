<?php

// Arrays of PHP, private or held by opcache.

declare(strict_types=1);

require_once __DIR__ . '/method.php';

abstract class PhpArray extends Method
{
    /** @var array<string, true> */
    protected array $keys;

    public function ask(array $pages): int
    {
        $found = 0;
        $known = $this->keys;
        foreach ($pages as $keys) {
            foreach ($keys as $key) {
                if (isset($known[$key])) {
                    ++$found;
                }
            }
        }
        return $found;
    }
}

final class PrivateArray extends PhpArray
{
    public function __construct(Place $place)
    {
        parent::__construct($place);
        foreach (keys_by_thousand($place->count) as $keys) {
            foreach ($keys as $key) {
                $this->keys[$key] = true;
            }
        }
    }
}

final class OpcacheArray extends PhpArray
{
    public static function fill(Place $place): void
    {
        $file = fopen($place->file('php'), 'w');
        fwrite($file, "<?php\nreturn [\n");
        foreach (keys_by_thousand($place->count) as $keys) {
            fwrite($file, "'" . implode("'=>true,\n'", $keys) . "'=>true,\n");
        }
        fwrite($file, "];\n");
        fclose($file);
        touch($place->file('php'), time() - 60); // opcache leaves alone what is newer than two seconds
        opcache_compile_file($place->file('php'));
    }

    public function __construct(Place $place)
    {
        parent::__construct($place);
        $this->keys = require $place->file('php');
    }

    public function sharedBytes(): int
    {
        $status = opcache_get_status(false);
        if ($status['cache_full'] || $status['opcache_statistics']['num_cached_scripts'] === 0) {
            throw new RuntimeException('opcache does not hold the array');
        }
        return $status['memory_usage']['used_memory'] - $status['interned_strings_usage']['free_memory'];
    }
}
