<?php

declare(strict_types=1);

namespace KeySieve\Tests\Differential;

/** Draws keys, and values of every type that a caller may pass for one, in arrays of every shape. */
final class Arguments
{
    private const SPECIAL = [
        '', ' ', '0', '-0', '1', '-1', '007', '1.5', '3.5', '-2.25', '1e3', '1.0E+25', 'INF', 'NAN', 'apple', "apple\n", "cr\r", '猫',
        "no UTF-8: \xff\xfe", '9223372036854775807', '-9223372036854775808', '9223372036854775808', '0.30000000000000004',
    ];
    private const FLOATS = [
        0.0, -0.0, 1.0, 1.5, 3.5, -2.25, 0.1 + 0.2, 1e3, 1e15, 123456789012345678.0, 9223372036854774784.0, 9223372036854775808.0,
        -9223372036854775808.0, 1e25, 5e-324, INF, -INF, NAN,
    ];

    public function __construct(private readonly Random $random)
    {
    }

    /** A key that a list of keys can hold: without NUL. */
    public function key(): string
    {
        $random = $this->random;
        return match ($random->weighted(['word' => 60, 'int' => 15, 'decimal' => 5, 'special' => 10, 'bytes' => 8, 'long' => 2])) {
            'word' => 'key ' . $random->size(1_000_000),
            'int' => (string) $random->between(-50, 5_000),
            'decimal' => (string) ($random->between(-50, 500) / 4),
            'special' => $random->of(self::SPECIAL),
            'bytes' => strtr($random->bytes($random->size(300)), "\0", '0'),
            'long' => str_repeat(strtr($random->bytes(8), "\0", '0'), $random->size(3_000)),
        };
    }

    /** @return list<string> */
    public function keys(int $count): array
    {
        $keys = [];
        while (count($keys) < $count) {
            $keys[] = $this->key();
        }
        return $keys;
    }

    /**
     * One argument, mostly a key of the list in one of its types.
     *
     * @param list<string> $keys
     */
    public function value(array $keys, bool $onlyKeys): mixed
    {
        $random = $this->random;
        $key = $keys === [] || $random->chance(0.3) ? $this->key() : $random->of($keys);
        if ($random->chance(0.02)) {
            $key .= "\0" . $key;
        }
        $weights = ['string' => 60, 'int' => 30] + ($onlyKeys ? [] : ['float' => 10, 'Stringable' => 3, 'other' => 4]);
        return match ($random->weighted($weights)) {
            'string' => $key,
            'int' => $key === (string) (int) $key ? (int) $key : $random->between(-50, 5_000),
            'float' => $key === (string) (float) $key ? (float) $key : $random->of(self::FLOATS),
            'Stringable' => new Text($key),
            'other' => $random->of([null, true, false, [], ['apple'], new \stdClass(), new \ArrayObject(['apple'])]),
        };
    }

    /** @param list<string> $keys */
    public function many(array $keys): ArrayOf
    {
        $random = $this->random;
        $onlyKeys = $random->chance(0.7);
        $elements = $references = $removed = [];
        for ($left = $random->size(200); $left > 0; --$left) {
            $value = $this->value($keys, $onlyKeys || $random->chance(0.9));
            match ($random->weighted(['list' => 90, 'name' => 5, 'index' => 5])) {
                'list' => $elements[] = $value,
                'name' => $elements["n$left"] = $value,
                'index' => $elements[$random->between(-9, 300)] = $value,
            };
        }
        foreach ($random->chance(0.3) ? array_keys($elements) : [] as $index) {
            if ($random->chance(0.2)) {
                $random->chance(0.5) ? $references[] = $index : $removed[] = $index;
            }
        }
        return new ArrayOf($elements, $references, $removed);
    }
}
