<?php

// What must pass PHPStan and Psalm: the types that users see, of the extension's stub and of the package alike.

declare(strict_types=1);

namespace KeySieve\Tests\Types;

use KeySieve\Availability;
use KeySieve\Info;
use KeySieve\Map;
use KeySieve\Membership;
use KeySieve\SeenKeys;
use KeySieve\Set;

use function KeySieve\candidate_sets;
use function KeySieve\may_contain;
use function KeySieve\stats;

/**
 * The keys that are asked for come back under their array keys.
 *
 * @param array<string, int> $ids
 * @return array<string, int>
 */
function candidatesKeepTheirTypes(Membership $set, array $ids): array
{
    return $set->candidates($ids);
}

/**
 * @param iterable<int, string> $keys
 * @return array<int, string>
 */
function candidatesOfAnIterator(Set $set, iterable $keys): array
{
    return $set->candidates($keys);
}

/**
 * @param array<string, string|int> $keys
 * @return array<string, bool>
 */
function answersKeepTheirArrayKeys(Set $set, array $keys): array
{
    return $set->mayContainMany($keys);
}

/**
 * @param list<string> $keys
 * @return array<int, bool>
 */
function newKeysKeepTheirArrayKeys(SeenKeys $seen, array $keys): array
{
    return $seen->addManyIfNew($keys);
}

/** @return array<?int> */
function valuesOfAMap(Map $map): array
{
    $one = $map->get('apple', static fn (string|int $key): int => strlen((string) $key));
    $many = $map->getMany(['apple', 42], static fn (array $keys): array => array_fill_keys($keys, 1));
    return [$one, ...array_values($many)];
}

function everyAvailabilityIsMatched(Set $set): string
{
    return match ($set->availability()) {
        Availability::Ready => 'answers',
        Availability::Missing, Availability::Expired, Availability::Bypassed, Availability::Incompatible, Availability::Disabled => 'maybe',
    };
}

function ageOf(Info $info): int
{
    return ($info->lastConfirmedAt ?? $info->asOf)->getTimestamp() + $info->generation;
}

/** @return array<string, int> */
function absentKeysBySet(): array
{
    if (may_contain('shop', 42) || candidate_sets(['shop', 'encyclopedia'], 'apple') !== []) {
        return [];
    }
    return array_map(static fn (array $counts): int => $counts['absent'], stats());
}
