// Stories of what is done to files, cut short by a power loss at each call and with each state that the disk
// may be in then.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/log_position.hpp"
#include "tests/faults/disk.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

// Tells a story that a step is done, and will be found after a power loss.
struct Acknowledgement {
  int what;  // as the story numbers it
  LogPosition position{};
};
using Acknowledgements = std::span<const Acknowledgement>;

// Told by the process that works, read by the one that traces it.
class Acknowledged {
 public:
  void add(const Acknowledgement& one) {
    all_.at(count_) = one;
    ++count_;
  }
  [[nodiscard]] unsigned count() const noexcept { return count_; }
  [[nodiscard]] Acknowledgements first(unsigned count) const { return Acknowledgements(all_).first(count); }

 private:
  std::array<Acknowledgement, 64> all_{};
  std::atomic<unsigned> count_{0};
};

// Two folders, empty at first.
struct Places {
  explicit Places(const std::string& root);
  std::string disk;
  std::string memory;  // empty after a power loss, and nothing in it counts
};

struct Story {
  const char* name;
  // In part 1 where part 0 was killed.
  std::function<void(const Places& places, Acknowledged& acknowledged, int part)> work;
  // Starts again after a power loss; what is wrong, or nothing.
  std::function<std::string(const Places& places, Acknowledgements acknowledged)> check;
  unsigned calls_between_kills = 1;  // in short runs
  std::size_t spare_syncs = 0;       // those of part 0 that it does without

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const Story& story, std::ostream* out) { *out << story.name; }
};

// One recording of a story.
class PowerLosses {
 public:
  // Part 0 of the story as a whole; with `killed_after`, up to that call, and part 1 after it.
  explicit PowerLosses(const Story& story, std::optional<std::size_t> killed_after = {});

  // False if part 0 has fewer calls.
  [[nodiscard]] bool was_killed() const noexcept { return first_ != 0; }
  [[nodiscard]] const std::vector<DiskCall>& calls() const noexcept { return recorder_.calls(); }

  // What is first found to be wrong; nothing if nothing is. As if the call `without` had not been made.
  std::string find_wrong(std::optional<std::size_t> without = {});
  // That were tried in all.
  [[nodiscard]] std::size_t states() const noexcept { return states_; }

 private:
  std::string try_states(const Disk& disk, std::size_t call, std::mt19937_64& random);
  std::string check(const DiskState& state, Acknowledgements acknowledged);

  const Story& story_;
  TemporaryDirectory root_{fast_folder()};
  Places places_{root_.path()};
  SharedPage<Acknowledged> acknowledged_;
  DiskRecorder recorder_{places_.disk, [this] { return acknowledged_->count(); }};
  std::size_t first_ = 0;  // call after which power losses are tried
  bool is_apart_ = false;  // each check in a process of its own
  std::size_t states_ = 0;
  std::unordered_set<std::size_t> good_;  // hashes of states and acknowledgements
};

// The stories of power losses: what stores, adds mirror, cache and loader write, and what they promise.

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

// A snapshot of the set "tags"; made once, before there is another process.
const SnapshotBytes& generation(int number);
// The number of the one that this is, to the byte; -1 if it is none.
int number_of(const SnapshotBytes& snapshot);

}  // namespace keysieve::test
