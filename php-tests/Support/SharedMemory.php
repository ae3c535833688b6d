<?php

declare(strict_types=1);

namespace KeySieve\Tests\Support;

use KeySieve\Tests\Differential\SnapshotBytes;

/** The directory that this process reads, filled by the real program as a batch or an operator would. */
final class SharedMemory
{
    public static function directory(): string
    {
        return get_cfg_var('keysieve.directory');
    }

    public static function folder(string $set): string
    {
        return self::directory() . '/' . $set;
    }

    /**
     * @param array<string|int> $keys    without NUL bytes; unless $options has -0, without newlines and not empty
     * @param string[]          $options of `keysieve build`
     * @return string the snapshot's file
     */
    public static function build(string $set, array $keys, array $options = []): string
    {
        return self::buildOf($set, [...$options, self::list($set, $keys, in_array('-0', $options, true) ? "\0" : "\n")]);
    }

    /**
     * @param array<string|int> $keys
     * @return string a file of them
     */
    public static function list(string $name, array $keys, string $separator = "\n"): string
    {
        $list = self::directory() . "/$name.keys";
        file_put_contents($list, implode($separator, $keys) . $separator);
        return $list;
    }

    public static function overwrite(string $file, string $bytes): void
    {
        chmod($file, 0640); // the publisher leaves it to readers alone
        file_put_contents($file, $bytes);
    }

    /** Changes fields of a snapshot, of which all checksums stay right. */
    public static function forge(string $file, int|string ...$fields): void
    {
        $snapshot = new SnapshotBytes(file_get_contents($file));
        foreach ($fields as $field => $value) {
            $snapshot->put($field, $value);
        }
        self::overwrite($file, $snapshot->seal()->bytes);
    }

    /** @param string[] $options of `keysieve publish` */
    public static function publish(string $snapshot, array $options = []): void
    {
        Program::keysieve('publish', '--directory', self::directory(), ...$options, ...[$snapshot]);
    }

    /** Builds and publishes. */
    public static function put(string $set, array $keys, array $options = []): void
    {
        self::publish(self::build($set, $keys, $options));
    }

    /** The same with an empty live layer, as the loader does. */
    public static function putWithLayer(string $set, array $keys, array $options = []): void
    {
        self::publishWithLayer(self::build($set, $keys, $options));
    }

    /**
     * @param array<string|int, int> $values  by keys without tabs or newlines
     * @param string[]               $options of `keysieve build`
     * @return string the snapshot's file
     */
    public static function buildMap(string $map, array $values, array $options = []): string
    {
        $list = self::directory() . "/$map.tsv";
        $lines = array_map(static fn (string|int $key, int $value): string => "$key\t$value\n", array_keys($values), $values);
        file_put_contents($list, implode('', $lines));
        return self::buildOf($map, ['--values', $list, '--allow-suspect-keys', ...$options]);
    }

    /** Publishes with an empty live layer, as the loader does. */
    public static function publishWithLayer(string $snapshot): void
    {
        self::liveKeys('publish', self::directory(), $snapshot);
    }

    /** Adds keys to what is published, as the loader does with what it finds in the adds log. */
    public static function addLive(string $set, string ...$keys): void
    {
        self::liveKeys('add', self::directory(), $set, ...$keys);
    }

    /** @return string[] the names of all filter kinds that a set for which these options ask can have */
    public static function kinds(string ...$options): array
    {
        $plan = Program::keysieve('plan', '--keys', '1', '--all', '--json', ...$options);
        return array_column(json_decode($plan, true, 512, JSON_THROW_ON_ERROR)['kinds'], 'kind');
    }

    public static function bypass(string $set, string ...$options): void
    {
        Program::keysieve('bypass', '--directory', self::directory(), $set, ...$options);
    }

    /** @param string[] $arguments of `keysieve build` */
    private static function buildOf(string $set, array $arguments): string
    {
        $snapshot = self::directory() . "/$set.ks";
        $target = in_array('--fpr', $arguments, true) ? [] : ['--fpr', '0.000001']; // no other key is maybe by chance
        Program::keysieve('build', '--set', $set, ...$target, ...$arguments, ...['-o', $snapshot]);
        return $snapshot;
    }

    private static function liveKeys(string ...$arguments): string
    {
        return Program::output([getenv('KEYSIEVE_BIN_DIR') . '/live_keys', ...$arguments]);
    }
}
