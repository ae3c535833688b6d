<?php

// Loads keysieve's classes where the extension is not there, and has its functions and what all its classes share. Composer includes it;
// other code may do so itself. Symfony's compiled containers include the files of classes even where the extension has these, and a script
// of opcache.preload may compile any file: hence each class and function is declared only if it is missing.

declare(strict_types=1);

namespace KeySieve;

use KeySieve\Reader\Arguments;
use KeySieve\Reader\AttachedSet;

if (defined('KeySieve\BOOTSTRAP')) {
    return; // another copy of this package was first
}
define('KeySieve\BOOTSTRAP', __FILE__);
const OLDEST_EXTENSION = '0.1'; // composer.json says it as well
spl_autoload_register(static function (string $class): void {
    if (!str_starts_with($class, 'KeySieve\\')) {
        return;
    }
    $extension = phpversion('keysieve');
    if ($extension !== false && version_compare($extension, OLDEST_EXTENSION, '<')) { // what this package adds to the extension's classes could end in a fatal error
        throw new \LogicException('keysieve/reader needs the extension keysieve ' . OLDEST_EXTENSION . " or later, or none, not $extension: upgrade the extension");
    }
    // A signal handler may ask a set while PHP is loading a class, and would not find that class. So all classes are loaded together with
    // Set, Map or SeenSet. In php-fpm, where each request loads them again, only those that are always needed, unless pcntl is there.
    if (in_array($class, ['KeySieve\Set', 'KeySieve\Map', 'KeySieve\SeenSet'], true)) {
        foreach (['/Membership', '/Reader/AttachedSet', '/Reader/Settings', '/Reader/File', '/Reader/Snapshot', '/Reader/Kind'] as $name) {
            require_once __DIR__ . "/src$name.php";
        }
        foreach (PHP_SAPI === 'fpm-fcgi' && !function_exists('pcntl_signal') ? [] : ['', '/Reader', '/Reader/Kind'] as $folder) {
            foreach (scandir(__DIR__ . "/src$folder") ?: [] as $name) {
                if (preg_match('/^[A-Z]\w+\.php$/', $name) === 1) {
                    require_once __DIR__ . "/src$folder/$name";
                }
            }
        }
    }
    $file = __DIR__ . '/src/' . strtr(substr($class, 9), '\\', '/') . '.php';
    if (is_file($file)) {
        require_once $file;
    }
});

if (!trait_exists('KeySieve\NotSerializable', false)) {
    /** Refuses what the extension's classes refuse by a flag, as clones. unserialize() makes an empty object of "C:..." unless a class is Serializable. */
    trait NotSerializable
    {
        /** @return never */
        public function __serialize(): array
        {
            throw new \Exception("Serialization of '" . self::class . "' is not allowed");
        }

        /**
         * @param array<mixed> $data
         * @return never
         */
        public function __unserialize(array $data): void
        {
            throw new \Exception("Unserialization of '" . self::class . "' is not allowed");
        }

        public function serialize(): never
        {
            $this->__serialize();
        }

        public function unserialize(string $data): never
        {
            $this->__unserialize([]);
        }

        private function __clone()
        {
        }
    }
}

if (!function_exists('KeySieve\may_contain')) {
    /**
     * The one-liner for templates: the same answer as `(new Set($set))->mayContain($key)`.
     *
     * @param string|int $key
     * @throws InvalidNameException
     * @throws UnavailableException if keysieve.on_unavailable says so
     */
    function may_contain(string $set, string|int|float $key): bool
    {
        $key = is_float($key) ? Arguments::key($key) : $key;
        return AttachedSet::named($set, __FUNCTION__ . '(): Argument #1 ($set) must be')->answers([$key], __FUNCTION__, null, null)[0];
    }
}

if (!function_exists('KeySieve\candidate_sets')) {
    /**
     * Names of the sets that may contain the key, as a list. Sets that are not available are included, unless
     * keysieve.on_unavailable is throw.
     *
     * @param string[] $sets
     * @param string|int $key
     * @return string[]
     * @throws InvalidNameException
     * @throws UnavailableException if keysieve.on_unavailable says so
     */
    function candidate_sets(array $sets, string|int|float $key): array
    {
        $key = is_float($key) ? Arguments::key($key) : $key;
        $asked = [];
        foreach ($sets as $set) {
            if (!is_string($set)) {
                $type = get_debug_type($set);
                throw new \TypeError(__FUNCTION__ . "(): Argument #1 (\$sets) must be an array of strings, $type given");
            }
            $asked[] = AttachedSet::named($set, __FUNCTION__ . '(): Argument #1 ($sets) must be an array of set names, each');
        }
        return array_column(array_filter($asked, static fn (AttachedSet $set): bool => $set->answers([$key], '', null, null)[0]), 'name');
    }
}

if (!function_exists('KeySieve\stats')) {
    /**
     * Counts the lookups of this process per set: calls (a batch counts once), and keys that came back as maybe, as absent, or as
     * maybe because the set was unavailable.
     *
     * @phpstan-return array<string, array{calls: int, maybe: int, absent: int, unavailable: int}>
     */
    function stats(): array
    {
        return AttachedSet::counts();
    }
}

if (!function_exists('KeySieve\begin_request')) {
    /**
     * For a process that serves many requests, such as RoadRunner, Swoole or a queue worker: call it at the start of each. The next
     * lookup of each set then looks at the clock and at the set's files, which takes 1 to 2 µs, and so notices an expiry, the end of a
     * bypass or another directory. Otherwise lookups do so only now and then. The extension unmaps here what was replaced since the
     * last call. php-fpm needs no such call.
     */
    function begin_request(): void
    {
        AttachedSet::beginRequest();
    }
}
