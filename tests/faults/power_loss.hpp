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

#include "core/worker/base/log_position.hpp"
#include "tests/faults/disk_recorder.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

// What a story was told: this is done, and will be found after a power loss.
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

}  // namespace keysieve::test
