<?php

// What must pass neither PHPStan nor Psalm: the comment at a line's end is part of what each must say of that line.

declare(strict_types=1);

namespace KeySieve\Tests\Types;

use KeySieve\Availability;
use KeySieve\Map;
use KeySieve\Membership;
use KeySieve\SeenSet;
use KeySieve\Set;

use function KeySieve\may_contain;

/** @return list<string> */
function candidatesAreNoList(Set $set): array
{
    return $set->candidates(['apple', 'plum']); // should return list<string> but returns array<0|1, // LessSpecificReturnStatement
}

/** @return array<int, string> */
function candidatesAreNotConverted(Membership $set): array
{
    return $set->candidates([41, 42]); // should return array<int, string> but returns array<int, int> // InvalidReturnStatement
}

function nullIsNoKey(Set $set): bool
{
    return $set->mayContain(null); // int|string, null given // NullArgument
}

function floatsAreNoKeys(Set $set): void
{
    $set->mayContainMany([1.5]); // expects iterable< // InvalidArgument
}

function anAnswerIsNoString(Set $set): string
{
    return $set->mayContain('apple'); // should return string but returns bool // InvalidReturnStatement
}

function valuesAreNumbers(Map $map): ?int
{
    return $map->get('apple', static fn (string|int $key): string => 'fruit'); // expects callable(int|string): (int|null) // InvalidArgument
}

function aValueMayBeNone(Map $map): int
{
    return $map->get('apple', static fn (): ?int => null); // should return int but returns int|null // NullableReturnStatement
}

function oneAvailabilityIsForgotten(Set $set): string
{
    return match ($set->availability()) { // Match expression does not handle remaining value: KeySieve\Availability::Disabled // UnhandledMatchCondition
        Availability::Ready => 'answers',
        Availability::Missing, Availability::Expired, Availability::Bypassed, Availability::Incompatible => 'maybe',
    };
}

function nobodyWritesToASet(Set $set): void
{
    $set->name = 'other'; // Readonly property KeySieve\Set::$name is assigned outside // InaccessibleProperty
}

function infoMayBeNull(SeenSet $set): int
{
    return $set->info()->windows; // Cannot access property $windows on KeySieve\SeenInfo|null // PossiblyNullPropertyFetch
}

function aSetIsNamedByAString(Map $set): bool
{
    return may_contain($set, 42); // expects string, KeySieve\Map given // InvalidArgument
}
