// The stories of power losses: what stores, adds mirror, cache and loader write, and what they promise.
#pragma once

#include <span>
#include <string>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/faults/power_loss.hpp"

namespace keysieve::test {

// Adds to the log of a store of that scheme, and trims it: keys are there, positions never come again.
Story adds_story(const char* name, const std::string& scheme, unsigned calls_between_kills,
                 std::size_t spare_syncs);
// Pushes: the generation is whole, and so are those that are kept.
Story push_story(const char* name, const std::string& scheme, unsigned calls_between_kills,
                 std::size_t spare_syncs);
// The file of the adds that a host has received.
Story mirror_story();
// A host's snapshots, and the moments that it must not go behind.
Story cache_story();
// A host that has received keys and generations, and then starts without its store.
Story host_story();

// What part 1 does has higher numbers.
inline constexpr int kOfSecondPart = 20;
inline constexpr int kLastNumber = 2 * kOfSecondPart - 1;
// Acknowledged before a log is trimmed up to a position: keys up to there need not be in it any more.
inline constexpr int kTrimmed = -1;

// Every third is longer than some sectors.
std::string logged_key(int number);
// What is missing or wrong in a log with these keys.
std::string wrong_in(std::span<const std::string> found, Acknowledgements acknowledged);

// Of the set "tags"; made once, before there is another process.
const SnapshotBytes& generation(int number);
// The number of the one that this is, to the byte; -1 if it is none.
int number_of(const SnapshotBytes& snapshot);

}  // namespace keysieve::test
